package dev.fencepost.config;

import static dev.fencepost.config.Values.between;

import dev.fencepost.config.FencepostConfig.Broker;
import dev.fencepost.config.FencepostConfig.Database;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads {@code database} and {@code broker}. */
final class ServerSections {
  private static final Set<String> POSTGRESQL = ordered("postgresql", "postgres");
  private static final Set<String> AMQP = ordered("amqp", "amqps");
  private static final Set<String> HTTP = ordered("http", "https");
  // Not quoted anywhere: also what PostgreSQL reserves for itself is left out.
  private static final Pattern SCHEMA = Pattern.compile("(?!pg_)[a-z_][a-z0-9_]{0,62}");

  private ServerSections() {}

  static Database database(Section section) {
    Values values = new Values(section);
    List<String> uris =
        Uris.servers(
            section, "${FENCEPOST_DATABASE_URI:postgresql://localhost:5432/postgres}", POSTGRESQL);
    String schema =
        values.matching(
            "schema",
            "fencepost",
            SCHEMA,
            "a plain identifier: a-z, 0-9 and _, at most 63, not starting with a digit or pg_");
    int poolSize = values.whole("pool-size", 8, between(1, 1_000));
    section.close();
    return new Database(uris, schema, poolSize);
  }

  static Broker broker(Section section) {
    Values values = new Values(section);
    List<String> uris =
        Uris.servers(section, "${FENCEPOST_BROKER_URI:amqp://guest:guest@localhost:5672/}", AMQP);
    String management = section.text("management-uri");
    URI managementUri =
        management == null || management.isEmpty()
            ? null
            : Uris.parse(section, "management-uri", management, HTTP);
    Duration consumerTimeout =
        values.duration("consumer-timeout", Duration.ofMinutes(30), between("1s", "365d"));
    section.close();
    return new Broker(uris, managementUri, consumerTimeout);
  }

  private static Set<String> ordered(String... schemes) {
    return new LinkedHashSet<>(List.of(schemes));
  }
}
