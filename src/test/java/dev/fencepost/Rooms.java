package dev.fencepost;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The rooms below a root package, the arrows between them ("may import", with all that the other
 * may import) and who may use which library.
 */
final class Rooms {

  private static final Set<String> LOOPS = Set.of("operations", "relay", "worker", "config");

  private static final Map<String, Set<String>> ARROWS =
      Map.ofEntries(
          Map.entry("model", Set.of()),
          Map.entry("flow", Set.of()),
          Map.entry("decide", Set.of("model")),
          Map.entry("api", Set.of("model")),
          Map.entry("config", Set.of("model")),
          Map.entry("operations", Set.of("decide", "config", "flow")),
          Map.entry("relay", Set.of("decide", "config", "flow")),
          Map.entry("worker", Set.of("decide", "config", "api", "flow")),
          Map.entry("handlers", LOOPS),
          Map.entry("pg", LOOPS),
          Map.entry("rabbit", LOOPS),
          Map.entry("metrics", LOOPS),
          Map.entry("tracing", LOOPS),
          Map.entry("admin", LOOPS),
          Map.entry("embedded", LOOPS),
          Map.entry(
              "boot",
              Set.of("handlers", "pg", "rabbit", "metrics", "tracing", "admin", "embedded")),
          Map.entry("cli", Set.of("boot")));

  /** Packages of libraries that belong to some rooms alone; the longest prefix counts. */
  private static final Map<String, Set<String>> LIBRARIES =
      Map.ofEntries(
          Map.entry("com.rabbitmq", Set.of("rabbit")),
          Map.entry("io.vertx.rabbitmq", Set.of("rabbit")),
          Map.entry("io.vertx.pgclient", Set.of("pg")),
          // An effect runs on the connection its receipt is written on.
          Map.entry("io.vertx.sqlclient", Set.of("pg", "api", "worker", "handlers", "boot")),
          // The demo reads what came out, in the databases it embeds.
          Map.entry("java.sql", Set.of("pg", "api", "embedded", "boot")),
          Map.entry("javax.sql", Set.of("pg", "api", "embedded")),
          Map.entry("org.postgresql", Set.of("pg")),
          Map.entry("org.flywaydb", Set.of("pg")),
          Map.entry("org.apache.qpid", Set.of("embedded")),
          Map.entry("io.zonky", Set.of("embedded")),
          Map.entry("io.micrometer", Set.of("metrics")),
          Map.entry("io.vertx.micrometer", Set.of("metrics")),
          Map.entry("io.opentelemetry", Set.of("tracing")),
          Map.entry("io.vertx.ext.web", Set.of("admin")),
          Map.entry("io.vertx.ext.web.client", Set.of("handlers", "rabbit")),
          Map.entry("picocli", Set.of("cli")));

  private static final Set<String> PURE = Set.of("model", "decide");

  private static final Set<String> IMPURE_PACKAGES =
      Set.of("java.io", "java.net", "java.nio.file", "java.util.concurrent", "io.vertx");

  /** What makes a decision depend on when or where it is taken. */
  private static final Set<String> IMPURE_CALLS =
      Set.of(
          "java.lang.System.currentTimeMillis",
          "java.lang.System.nanoTime",
          "java.lang.System.getenv",
          "java.lang.System.getProperty",
          "java.lang.Math.random",
          "java.time.Instant.now",
          "java.time.LocalDateTime.now",
          "java.time.OffsetDateTime.now",
          "java.time.ZonedDateTime.now",
          "java.time.Clock.systemUTC",
          "java.time.Clock.systemDefaultZone",
          "java.util.UUID.randomUUID");

  private final String root;

  Rooms(String root) {
    this.root = root;
  }

  static Set<String> names() {
    return ARROWS.keySet();
  }

  /** Every class is in a declared room, and rooms know each other along the arrows only. */
  ArchRule arrows() {
    return rule(
        "know rooms along the arrows only",
        (type, events) -> {
          String room = room(type);
          if (!ARROWS.containsKey(room)) {
            report(events, type.getName() + " is in '" + room + "', which is no declared room");
            return;
          }
          Set<String> allowed = reachable(room);
          type.getDirectDependenciesFromSelf().stream()
              .filter(dependency -> isOurs(dependency.getTargetClass()))
              .filter(dependency -> !allowed.contains(room(dependency.getTargetClass())))
              .forEach(dependency -> report(events, dependency.getDescription()));
        });
  }

  /** A library is used by the rooms it belongs to only. */
  ArchRule libraries() {
    return rule(
        "use the libraries of their room only",
        (type, events) ->
            type.getDirectDependenciesFromSelf().stream()
                .filter(d -> !owners(d.getTargetClass().getPackageName(), room(type)))
                .forEach(d -> report(events, d.getDescription())));
  }

  /** Decisions get clock and chance from outside and do no I/O. */
  ArchRule purity() {
    return rule(
        "be pure where decisions are taken",
        (type, events) -> {
          if (!PURE.contains(room(type))) {
            return;
          }
          type.getDirectDependenciesFromSelf().stream()
              .filter(d -> inAny(IMPURE_PACKAGES, d.getTargetClass().getPackageName()))
              .forEach(d -> report(events, d.getDescription()));
          type.getAccessesFromSelf().stream()
              .filter(access -> IMPURE_CALLS.contains(name(access)))
              .forEach(access -> report(events, access.getDescription()));
        });
  }

  private ArchRule rule(String promise, BiConsumer<JavaClass, ConditionEvents> check) {
    return ArchRuleDefinition.classes()
        .should(
            new ArchCondition<JavaClass>(promise) {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                check.accept(type, events);
              }
            });
  }

  private boolean isOurs(JavaClass type) {
    return within(root, type.getPackageName());
  }

  private String room(JavaClass type) {
    String below = type.getPackageName().substring(root.length());
    return below.isEmpty() ? "" : below.substring(1).split("\\.")[0];
  }

  /** The room itself and all it may import, directly or by way of another. */
  private static Set<String> reachable(String room) {
    Set<String> reached = new HashSet<>(Set.of(room));
    ARROWS.get(room).forEach(next -> reached.addAll(reachable(next)));
    return reached;
  }

  private static boolean owners(String library, String room) {
    return LIBRARIES.keySet().stream()
        .filter(prefix -> within(prefix, library))
        .max(Comparator.comparingInt(String::length))
        .map(prefix -> LIBRARIES.get(prefix).contains(room))
        .orElse(true);
  }

  private static boolean inAny(Set<String> prefixes, String name) {
    return prefixes.stream().anyMatch(prefix -> within(prefix, name));
  }

  private static boolean within(String prefix, String name) {
    return name.equals(prefix) || name.startsWith(prefix + ".");
  }

  private static String name(JavaAccess<?> access) {
    return access.getTargetOwner().getName() + "." + access.getTarget().getName();
  }

  private static void report(ConditionEvents events, String what) {
    events.add(SimpleConditionEvent.violated(what, what));
  }
}
