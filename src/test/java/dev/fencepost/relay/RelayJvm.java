package dev.fencepost.relay;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** {@link RelayMain} as a process of its own, signalled by its id. */
final class RelayJvm implements AutoCloseable {
  private final Process process;

  private RelayJvm(Process process) {
    this.process = process;
  }

  static RelayJvm start(String database, String broker, int lanes, int window) throws IOException {
    return start("-Xmx256m", database, broker, lanes, window);
  }

  static RelayJvm start(String heap, String database, String broker, int lanes, int window)
      throws IOException {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> line =
        List.of(
            ProcessHandle.current().info().command().orElse("java"),
            heap,
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            classPath,
            RelayMain.class.getName(),
            database,
            broker,
            Integer.toString(lanes),
            Integer.toString(window));
    ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
    builder.redirectOutput(new File("target/relay-jvm.log"));
    return new RelayJvm(builder.start());
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor(10, TimeUnit.SECONDS);
  }

  /** SIGSTOP: it stands still, its connections stay open. */
  void freeze() throws IOException, InterruptedException {
    signal("STOP");
  }

  /** SIGCONT. */
  void thaw() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  boolean alive() {
    return process.isAlive();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    thaw();
    kill();
  }
}
