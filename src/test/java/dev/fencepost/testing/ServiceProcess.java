package dev.fencepost.testing;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/**
 * A main class run in a second JVM on the class path of the tests: it can be killed, frozen and
 * asked to end by process id, and what it prints can be awaited. It dies with this JVM.
 */
public final class ServiceProcess implements AutoCloseable {

  /** Small and quick to start: a test may run several at once. */
  private static final List<String> FLAGS =
      List.of(
          "-Xmx192m",
          "-Xss512k",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-Xshare:auto",
          "-XX:-UsePerfData",
          "-Duser.language=en");

  private final String name;
  private final Path folder;
  private final ServerProcess process;

  private ServiceProcess(String name, Path folder, ServerProcess process) {
    this.name = name;
    this.folder = folder;
    this.process = process;
  }

  /** Starts the class with arguments in the environment of this JVM. */
  public static ServiceProcess start(Class<?> main, String... arguments) {
    return start(main, Map.of(), arguments);
  }

  /** Starts the class with arguments and variables beside those of this JVM. */
  public static ServiceProcess start(
      Class<?> main, Map<String, String> environment, String... arguments) {
    return start(List.of(), main, environment, arguments);
  }

  /** As {@link #start(Class, Map, String...)}; the flags overrule the usual ones. */
  public static ServiceProcess start(
      List<String> flags, Class<?> main, Map<String, String> environment, String... arguments) {
    // Under nohup the tests would hand on a SIGHUP that is ignored.
    List<String> line = new ArrayList<>(List.of("/usr/bin/env", "--default-signal=HUP"));
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(FLAGS);
    line.addAll(flags); // of two the last counts
    line.add(main.getName());
    line.addAll(List.of(arguments));
    Map<String, String> variables = new HashMap<>(environment);
    variables.put("CLASSPATH", System.getProperty("java.class.path"));
    Path folder = TempFolders.create("service");
    ServerProcess.Command command =
        new ServerProcess.Command(line, variables, folder, folder.resolve("output.log"), null);
    return new ServiceProcess(main.getSimpleName(), folder, ServerProcess.start(command));
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** A folder of its own, where it was started; gone with {@link #close()}. */
  public Path folder() {
    return folder;
  }

  /** SIGKILL; returns when it is gone. */
  public void kill() {
    process.kill();
  }

  /** SIGTERM: asks it to end; see {@link #awaitExit}. */
  public void terminate() {
    process.signal("TERM");
  }

  /** SIGHUP: asks it to read its configuration again. */
  public void hangUp() {
    process.signal("HUP");
  }

  /** SIGSTOP: it holds what it has and does nothing. */
  public void pause() {
    process.pause();
  }

  /** SIGCONT. */
  public void resume() {
    process.resume();
  }

  /** The exit code once it has ended: 137 after SIGKILL, 143 after SIGTERM. */
  public int awaitExit(Duration deadline) {
    process.awaitExit(deadline);
    return process.process().exitValue();
  }

  /** All it has printed so far, standard error included. */
  public String log() {
    return process.logText();
  }

  /** The lines printed so far in which the expression is found. */
  public List<String> lines(String regex) {
    return log().lines().filter(Pattern.compile(regex).asPredicate()).toList();
  }

  /** Waits for a line in which the expression is found and returns the first. */
  public String awaitLine(String regex, Duration deadline) {
    await("prints a line with " + regex, deadline, () -> !lines(regex).isEmpty());
    return lines(regex).get(0);
  }

  /** Waits for a condition, and no longer once the process has ended. */
  public void await(String what, Duration deadline, Callable<Boolean> condition) {
    try {
      Await.until(name + " " + what, deadline, () -> condition.call() || !isAlive());
      if (!condition.call()) {
        throw new AssertionError(name + " ended before it " + what);
      }
    } catch (Exception | AssertionError e) {
      throw new AssertionError(e.getMessage() + "\n" + process.logTail(), e);
    }
  }

  /** Kills it if it still runs and deletes its folder. */
  @Override
  public void close() {
    kill();
    TempFolders.delete(folder);
  }
}
