package dev.fencepost.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs the product's commands. */
final class Fencepost {

  static final String MAIN = "dev.fencepost.cli.Main";

  /** What a worker that is to be fast is given. */
  static final String INTAKE = "prefetch: 4000\n    concurrency: 2000";

  static final String INTAKE_SAID = "prefetch 4000, concurrency 2000, else defaults";

  private static final String INSERT =
      "insert into fencepost.outbox (exchange, routing_key, type, key, payload)"
          + " values ('%s', '%s', 'order.placed', ?, ?)";

  private static final String FINISHED =
      Servers.BENCH + "select count(finished_at) from fencepost.activities";

  private Fencepost() {}

  /** Work that is done and over. */
  static long finished(Servers.Database database) {
    return database.watched(FINISHED);
  }

  /** Writes the file, migrates, and returns the file. */
  static Path migrate(String name, String configuration) {
    try {
      Path file = Paths.run(name, ".yaml");
      Files.createDirectories(file.getParent());
      Files.writeString(file, configuration);
      JavaProcess migration =
          JavaProcess.start(
              name + " migrate", Paths.product(), List.of(MAIN, "migrate", "-c", file.toString()));
      if (!migration.await(120) || migration.exitValue() != 0) {
        throw new IllegalStateException("migrate failed\n" + migration.logText());
      }
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JavaProcess run(String name, Path file, String... jvm) {
    return JavaProcess.start(
        name,
        Paths.product(),
        List.of(jvm),
        List.of(MAIN, "run", "-c", file.toString()));
  }

  /** Everything at its default. */
  static String servers(Servers servers, Servers.Database database) {
    return """
        database: {uris: ["%s"]}
        broker: {uris: ["%s"]}
        admin: {port: 0}
        """
        .formatted(database.uri(), servers.brokerUri());
  }

  static String queue(String queue, String kind, Class<?> handler, String more) {
    return """
        queues:
          bench:
            queue: %s
            %s
            activities:
              order.placed: {kind: %s, handler: {class: %s}}
        """
        .formatted(queue, more, kind, handler.getName());
  }

  /** One row as an application writes it. */
  static String insert(Destination to) {
    return INSERT.formatted(to.exchange(), to.routingKey());
  }

  /** Rows committed in one transaction, keys spread evenly. */
  static String fill(Destination to, int rows, int size) {
    return ("insert " + Servers.BENCH + "into fencepost.outbox (exchange, routing_key, type, key, payload)"
            + " select '%s', '%s', 'order.placed', 'order-' || i %% %d,"
            + " int4send(i) || convert_to(repeat('x', %d), 'UTF8')"
            + " from generate_series(0, %d - 1) i")
        .formatted(to.exchange(), to.routingKey(), Relay.KEYS, size - 4, rows);
  }
}
