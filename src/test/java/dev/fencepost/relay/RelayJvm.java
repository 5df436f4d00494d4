package dev.fencepost.relay;

import dev.fencepost.testing.ServiceProcess;
import java.util.List;
import java.util.Map;

/** {@link RelayMain} as a process of its own, signalled by its id; it dies with this JVM. */
final class RelayJvm implements AutoCloseable {
  private final ServiceProcess process;

  private RelayJvm(ServiceProcess process) {
    this.process = process;
  }

  static RelayJvm start(String database, String broker, int lanes, int window) {
    return start("-Xmx256m", database, broker, lanes, window);
  }

  static RelayJvm start(String heap, String database, String broker, int lanes, int window) {
    return new RelayJvm(
        ServiceProcess.start(
            List.of(heap, "-XX:+ExitOnOutOfMemoryError"),
            RelayMain.class,
            Map.of(),
            database,
            broker,
            Integer.toString(lanes),
            Integer.toString(window)));
  }

  /** SIGKILL. */
  void kill() {
    process.kill();
  }

  /** SIGSTOP: it stands still, its connections stay open. */
  void freeze() {
    process.pause();
  }

  /** SIGCONT. */
  void thaw() {
    process.resume();
  }

  boolean alive() {
    return process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  /** All it has printed so far. */
  String log() {
    return process.log();
  }

  @Override
  public void close() {
    process.close();
  }
}
