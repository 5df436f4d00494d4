package dev.fencepost.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** One process with its children, started by this JVM and gone with it, signalled by process id. */
final class ServerProcess {

  private static final Set<ServerProcess> ALIVE = ConcurrentHashMap.newKeySet();
  private static final boolean HAS_SETPRIV = Files.isExecutable(Path.of("/usr/bin/setpriv"));

  /**
   * Children are started from this thread alone: Linux sends the parent-death signal when the
   * thread that started a process ends, and this one lives as long as the JVM.
   */
  private static final ExecutorService STARTER =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "test-server-starter");
            thread.setDaemon(true);
            return thread;
          });

  static {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> ALIVE.forEach(ServerProcess::kill), "test-server-reaper"));
  }

  private final Process process;
  private final Path log;

  private ServerProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /** How a process is started; {@code user} is {@code uid:gid}, or null to stay who we are. */
  record Command(
      List<String> line, Map<String, String> environment, Path folder, Path log, String user) {}

  static ServerProcess start(Command command) {
    ProcessBuilder builder = builder(command);
    builder.redirectInput(new File("/dev/null"));
    return start(builder, command.log());
  }

  static ServerProcess start(ProcessBuilder builder, Path log) {
    try {
      ServerProcess started = new ServerProcess(STARTER.submit(builder::start).get(), log);
      ALIVE.add(started);
      started.process.onExit().thenRun(() -> ALIVE.remove(started));
      return started;
    } catch (ExecutionException e) {
      throw new IllegalStateException("cannot start " + builder.command(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  static ProcessBuilder builder(Command command) {
    List<String> line = new ArrayList<>();
    if (HAS_SETPRIV) {
      line.addAll(List.of("/usr/bin/setpriv", "--pdeathsig", "KILL"));
      if (command.user() != null) {
        String[] ids = command.user().split(":");
        line.addAll(List.of("--reuid", ids[0], "--regid", ids[1], "--clear-groups"));
      }
    } else if (command.user() != null) {
      throw new IllegalStateException("setpriv (util-linux) is needed to run tests as root");
    }
    line.addAll(command.line());
    ProcessBuilder builder = new ProcessBuilder(line);
    builder.directory(command.folder().toFile());
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(command.log().toFile()));
    builder.environment().putAll(command.environment());
    return builder;
  }

  /** Runs a command to its end within a minute and returns its output; fails unless it exits 0. */
  static String run(Command command) {
    ServerProcess ran = start(command);
    ran.awaitExit(Duration.ofSeconds(60));
    if (ran.process.exitValue() != 0) {
      throw new IllegalStateException(command.line() + " failed\n" + ran.logTail());
    }
    return ran.logText();
  }

  long pid() {
    return process.pid();
  }

  Process process() {
    return process;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends a signal by name to the process alone. */
  void signal(String name) {
    signal(name, List.of(pid()));
  }

  /** Freezes the process, then its children: in that order none can be born in between. */
  void pause() {
    signal("STOP");
    List<Long> children = children();
    FrozenProcesses.add(children);
    signal("STOP", children);
  }

  void resume() {
    List<Long> children = children();
    signal("CONT", children);
    signal("CONT");
    FrozenProcesses.remove(children);
  }

  /** SIGKILL for the process and all it started; returns when it is gone. */
  void kill() {
    if (isAlive()) {
      signal("STOP");
      List<Long> children = children();
      signal("KILL");
      signal("KILL", children);
      FrozenProcesses.remove(children);
      // A server that starts again would find the memory its orphans share still in use.
      Await.until(
          "the children are gone",
          Duration.ofSeconds(20),
          () -> children.stream().noneMatch(ServerProcess::runs));
    }
    awaitExit(Duration.ofSeconds(10));
  }

  /** Waits for a server to be ready, and no longer once its process has ended. */
  void awaitReady(String what, Duration deadline, Callable<Boolean> ready) {
    Await.until(what, deadline, () -> !isAlive() || ready.call());
    if (!isAlive()) {
      throw new IllegalStateException("ended instead: " + what + "\n" + logTail());
    }
  }

  void awaitExit(Duration deadline) {
    try {
      if (!process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException(
            "process " + pid() + " did not end within " + deadline + "\n" + logTail());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  String logText() {
    try {
      return Files.exists(log) ? Files.readString(log, StandardCharsets.ISO_8859_1) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String logTail() {
    List<String> lines = logText().lines().toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
  }

  /** False for a zombie that nobody reaps, too: what it held is free. */
  static boolean runs(long pid) {
    try {
      String stat =
          Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return false;
    }
  }

  private List<Long> children() {
    try (Stream<ProcessHandle> all = process.descendants()) {
      return all.map(ProcessHandle::pid).toList();
    }
  }

  private static void signal(String name, List<Long> pids) {
    if (pids.isEmpty()) {
      return;
    }
    StringBuilder line = new StringBuilder("kill -" + name);
    pids.forEach(pid -> line.append(' ').append(pid));
    try {
      // The shell's own kill: /bin/kill is not part of a small system. A process may be gone.
      new ProcessBuilder("sh", "-c", line + " 2>/dev/null").start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
