package dev.fencepost;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;

/** The rooms of the design and the house rules a compiler does not know. */
class ArchitectureTest {

  private static final String ROOT = "dev.fencepost";
  private static final String FIXTURE = ROOT + ".testing.fixture";

  /** About 250 is the aim; what is far beyond does more than one thing. */
  private static final int MAX_LINES = 320;

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(location -> !isOfTests(location))
          .importPackages(ROOT);
  private static final JavaClasses TESTS =
      new ClassFileImporter().withImportOption(ArchitectureTest::isOfTests).importPackages(ROOT);
  private static final JavaClasses BROKEN = new ClassFileImporter().importPackages(FIXTURE);

  private static boolean isOfTests(Location location) {
    return location.contains("/test-classes/");
  }

  private final Rooms rooms = new Rooms(ROOT);
  private final Rooms brokenRooms = new Rooms(FIXTURE);

  @Test
  void roomsKnowEachOtherAlongTheArrowsOnly() {
    rooms.arrows().check(MAIN);
  }

  @Test
  void librariesStayInTheirRooms() {
    rooms.libraries().check(MAIN);
  }

  @Test
  void decisionsArePure() {
    rooms.purity().check(MAIN);
  }

  @Test
  void roomsFormNoCycle() {
    noCycles(ROOT).check(MAIN);
  }

  @Test
  void everyRoomSaysWhatItPromises() throws IOException {
    for (String room : Rooms.names()) {
      Path folder = Path.of("src/main/java/dev/fencepost", room);
      assertThat(!Files.isDirectory(folder) || Files.exists(folder.resolve("package-info.java")))
          .as("package-info.java of " + room)
          .isTrue();
    }
  }

  @Test
  void brokenArrowsAreFound() {
    assertThat(violations(brokenRooms.arrows()))
        .anyMatch(found -> found.contains("model.Row") && found.contains("relay.Loop"))
        .anyMatch(found -> found.contains("relay.Loop") && found.contains("pg.Store"))
        .anyMatch(found -> found.contains("'util', which is no declared room"))
        .noneMatch(found -> found.contains("<" + FIXTURE + ".relay.Loop.next()>"));
  }

  @Test
  void strayLibrariesAreFound() {
    assertThat(violations(brokenRooms.libraries()))
        .isNotEmpty()
        .allMatch(found -> found.contains("relay.Loop") && found.contains("com.rabbitmq"));
  }

  @Test
  void impureDecisionsAreFound() {
    assertThat(violations(brokenRooms.purity()))
        .hasSize(1)
        .allMatch(found -> found.contains("decide.Clocked") && found.contains("Instant.now"));
  }

  @Test
  void cyclesAreFound() {
    assertThat(violations(noCycles(FIXTURE))).isNotEmpty();
  }

  @Test
  void nothingWaitsOrLocks() {
    noClasses()
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .orShould()
        .dependOnClassesThat()
        .resideInAPackage("java.util.concurrent.locks")
        .because("the event loop must not be blocked")
        .check(MAIN);
  }

  @Test
  void noVertxIsStatic() {
    fields()
        .that()
        .haveRawType("io.vertx.core.Vertx")
        .should()
        .notBeStatic()
        .allowEmptyShould(true)
        .check(MAIN);
  }

  @Test
  void everyTestIsRun() {
    methods()
        .that()
        .areMetaAnnotatedWith(Testable.class)
        .should(new BeInAClassThatIsRun())
        .check(TESTS);
    noClasses().should().beAnnotatedWith(Disabled.class).check(TESTS);
    methods().should().notBeAnnotatedWith(Disabled.class).check(TESTS);
  }

  /** W13: leases and due times are the database's; the wall clock is asked for display alone. */
  @Test
  void w13_leasesKnowNoWallClock() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".worker", ROOT + ".decide", ROOT + ".pg")
        .and()
        .doNotHaveSimpleName("VertxTimers")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(java.time.Instant.class, "now")
        .orShould()
        .callMethod(java.time.LocalDateTime.class, "now")
        .orShould()
        .callMethod(java.time.OffsetDateTime.class, "now")
        .orShould()
        .callMethod(java.time.ZonedDateTime.class, "now")
        .orShould()
        .callMethod(java.time.Clock.class, "systemUTC")
        .check(MAIN);
  }

  @Test
  void filesStayShort() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      assertThat(files.filter(file -> file.toString().endsWith(".java")))
          .isNotEmpty()
          .filteredOn(file -> lines(file) > MAX_LINES)
          .as("files of more than %d lines of code", MAX_LINES)
          .isEmpty();
    }
  }

  /** Lines of code: without blank ones, comments and imports. */
  private static long lines(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .map(String::strip)
          .filter(line -> !line.isEmpty() && !line.matches("(//|/\\*|\\*|import |package ).*"))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ArchRule noCycles(String root) {
    return slices().matching(root + ".(*)..").should().beFreeOfCycles();
  }

  private static List<String> violations(ArchRule rule) {
    return rule.evaluate(BROKEN).getFailureReport().getDetails();
  }

  /** The name of the outermost class decides which plugin runs a test, if any does. */
  private static final class BeInAClassThatIsRun extends ArchCondition<JavaMethod> {
    BeInAClassThatIsRun() {
      super("be in a class named *Test, *Properties or *IT");
    }

    @Override
    public void check(JavaMethod method, ConditionEvents events) {
      JavaClass owner = method.getOwner();
      boolean isAbstract = owner.getModifiers().contains(JavaModifier.ABSTRACT);
      String file = owner.getName().split("\\$")[0];
      if (!isAbstract && !file.matches(".*(Test|Properties|IT)")) {
        events.add(SimpleConditionEvent.violated(method, method.getFullName() + " is never run"));
      }
    }
  }
}
