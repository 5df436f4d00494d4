package dev.fencepost.boot;

import dev.fencepost.embedded.DemoDatabase;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The demo's worker that is killed while it works: a process of its own, so that it is killed as a
 * machine kills, without a chance to say so.
 */
final class DoomedWorker implements AutoCloseable {

  private static final String DATABASE = "FENCEPOST_DEMO_DATABASE";
  private static final String BROKER = "FENCEPOST_DEMO_BROKER";
  private static final String READY = "consuming";
  private static final Duration START = Duration.ofSeconds(60);

  private final Process process;

  private DoomedWorker(Process process) {
    this.process = process;
  }

  static DoomedWorker start(String database, String broker) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                DoomedWorker.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put(DATABASE, database);
    builder.environment().put(BROKER, broker);
    return new DoomedWorker(builder.start());
  }

  /** Blocks until it takes messages; false when it has ended instead. */
  boolean awaitConsuming() throws IOException {
    StringBuilder said = new StringBuilder();
    InputStream out = process.getInputStream();
    for (int c = out.read(); c >= 0; c = out.read()) {
      said.append((char) c);
      if (said.indexOf(READY) >= 0) {
        return true;
      }
    }
    return false;
  }

  /** SIGKILL. */
  @Override
  public void close() {
    process.destroyForcibly();
  }

  /** The process itself. Ends with its parent, whose end of standard input closes then. */
  public static void main(String[] arguments) throws IOException {
    String database = System.getenv(DATABASE);
    DemoConfig config = new DemoConfig(database, System.getenv(BROKER), 1);
    Vertx vertx = Vertx.vertx();
    Service service =
        Demo.service(
            vertx,
            config.rendering(),
            new Parts(false, true, false),
            new DemoDatabase(database),
            true);
    Blocking.await(service.start(), START);
    boolean ready =
        Blocking.until(
            vertx, START, () -> Blocking.await(service.readiness().reasons(), START).isEmpty());
    if (!ready) {
      Runtime.getRuntime().halt(1);
    }
    System.out.write((READY + "\n").getBytes(StandardCharsets.UTF_8));
    System.out.flush();
    while (System.in.read() >= 0) {
      // Nothing is sent: the parent's end is what is waited for.
    }
    Runtime.getRuntime().halt(1);
  }
}
