package dev.fencepost.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of its own for one contender, nearly always a JVM; it ends with this one. */
final class JavaProcess implements AutoCloseable {

  /** As {@code bin/fencepost} runs the product; peers get the same. */
  private static final List<String> OPTIONS =
      List.of(
          "-XX:+UseParallelGC",
          "-XX:+ExitOnOutOfMemoryError",
          "-XX:PerfDataSamplingInterval=1000",
          "-Dfile.encoding=UTF-8");

  private final Process process;
  private final Path log;
  private final boolean product;
  private boolean stopped;

  private JavaProcess(Process process, Path log, boolean product) {
    this.process = process;
    this.log = log;
    this.product = product;
  }

  static JavaProcess start(String name, String classPath, List<String> arguments) {
    return start(name, classPath, List.of(), arguments);
  }

  /** Starts a main class with arguments; what it prints goes to a log named after it. */
  static JavaProcess start(
      String name, String classPath, List<String> options, List<String> arguments) {
    List<String> line = new ArrayList<>();
    line.add(ProcessHandle.current().info().command().orElse("java"));
    line.addAll(OPTIONS);
    line.addAll(options);
    if (classPath.equals(Paths.peers())) {
      line.add("-Dlogback.configurationFile=" + Paths.PEERS_LOG);
    }
    String more = System.getProperty("bench.jvm." + Paths.word(name));
    if (more != null) {
      line.addAll(List.of(more.split(" ")));
    }
    line.addAll(List.of("-cp", classPath));
    line.addAll(arguments);
    return command(name, line, classPath.equals(Paths.product()));
  }

  /** Any other command. */
  static JavaProcess command(String name, List<String> command) {
    return command(name, command, false);
  }

  private static JavaProcess command(String name, List<String> command, boolean product) {
    List<String> line = new ArrayList<>(List.of("/usr/bin/setpriv", "--pdeathsig", "KILL"));
    line.addAll(command);
    try {
      Path log = Paths.run(name, ".log");
      Files.createDirectories(log.getParent());
      ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
      builder.redirectOutput(log.toFile());
      JavaProcess started = new JavaProcess(builder.start(), log, product);
      Runtime.getRuntime().addShutdownHook(new Thread(started::close));
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long pid() {
    return process.pid();
  }

  /** Whether it runs the product, not one of its peers. */
  boolean isProduct() {
    return product;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  void stop() {
    if (!stopped) {
      signal("STOP");
      stopped = true;
    }
  }

  void resume() {
    if (stopped) {
      signal("CONT");
      stopped = false;
    }
  }

  /** Asks it to end, and waits. */
  void terminate() {
    process.destroy();
    await(30);
  }

  /** Waits for its end; false when it lasts longer. */
  boolean await(long seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  int exitValue() {
    return process.exitValue();
  }

  String logText() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a line to its standard input. */
  void tell(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void signal(String name) {
    try {
      new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid()).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      resume();
      // A profiler writes what it has found at an orderly end.
      process.destroy();
      await(5);
    }
    if (process.isAlive()) {
      process.destroyForcibly();
      await(10);
    }
  }
}
