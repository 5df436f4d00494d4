package dev.fencepost.bench;

import dev.fencepost.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One program under measurement: a process, its queue and a PostgreSQL of its own. It stays alive
 * and warm between rounds, frozen together with its server while another is measured.
 */
abstract class Contender implements AutoCloseable {

  private final String name;
  private final String settings;
  protected final Queue queue;
  protected final Servers servers;
  protected final Servers.Database database;
  private JavaProcess process;

  Contender(String name, String settings, Servers servers, String queueType) {
    this.name = name;
    this.settings = settings;
    this.servers = servers;
    this.queue = new Queue(servers.brokerUri(), "bench." + Paths.word(name), queueType);
    this.database = new Servers.Database();
  }

  /** Makes its tables. */
  abstract void prepare();

  abstract JavaProcess launch();

  /** Starts a peer's main class with the arguments that all of them get, and its own. */
  final JavaProcess launchPeer(Class<?> main, String... more) {
    List<String> line =
        new ArrayList<>(
            List.of(main.getName(), database.jdbcUrl(), servers.brokerUri(), queue.name()));
    line.addAll(List.of(more));
    return JavaProcess.start(name, Paths.peers(), line);
  }

  /** Part of the common number of messages that it gets: the slow ones would take all day. */
  double share() {
    return 1;
  }

  final String name() {
    return name;
  }

  final String settings() {
    return settings;
  }

  final Queue queue() {
    return queue;
  }

  final Servers.Database database() {
    return database;
  }

  final JavaProcess process() {
    return process;
  }

  /** All that it runs in: its CPU time and memory are theirs together. */
  List<JavaProcess> processes() {
    return List.of(process);
  }

  final void start() {
    prepare();
    process = launch();
    awaitReady();
  }

  final void awaitReady() {
    await("ready", Duration.ofMinutes(2), this::ready);
  }

  /** Whether what is written from now on is seen. */
  boolean ready() {
    return true;
  }

  final void freeze() {
    stop();
    database.pause();
  }

  void thaw() {
    database.resume();
    resume();
  }

  /** Freezes what it runs in, but not its PostgreSQL. */
  final void stop() {
    processes().forEach(JavaProcess::stop);
  }

  final void resume() {
    processes().forEach(JavaProcess::resume);
  }

  final boolean isAlive() {
    return processes().stream().allMatch(JavaProcess::isAlive);
  }

  final void checkAlive() {
    for (JavaProcess each : processes()) {
      if (!each.isAlive()) {
        throw new IllegalStateException(name + " has ended\n" + each.logText());
      }
    }
  }

  final void await(String what, Duration deadline, java.util.concurrent.Callable<Boolean> condition) {
    try {
      // What the condition throws counts as false: an ended process is looked for apart.
      Await.until(name + ": " + what, deadline, () -> !isAlive() || condition.call());
      checkAlive();
    } catch (AssertionError e) {
      throw new IllegalStateException(e.getMessage() + "\n" + tail(process.logText()), e);
    }
  }

  private static String tail(String text) {
    return text.substring(Math.max(0, text.length() - 4000));
  }

  /** CPU seconds so far of the contender, its PostgreSQL and the broker. */
  final Cpu cpu() {
    return new Cpu(own(), database.cpu(), servers.brokerCpu());
  }

  private double own() {
    return processes().stream().mapToDouble(each -> Proc.cpu(each.pid())).sum();
  }

  final double memory() {
    return processes().stream().mapToDouble(each -> Proc.residentMebibytes(each.pid())).sum();
  }

  record Cpu(double own, double postgres, double broker) {
    static final Cpu NONE = new Cpu(0, 0, 0);

    Cpu plus(Cpu other) {
      return new Cpu(own + other.own, postgres + other.postgres, broker + other.broker);
    }

    Cpu minus(Cpu other) {
      return new Cpu(own - other.own, postgres - other.postgres, broker - other.broker);
    }
  }

  @Override
  public void close() {
    List<AutoCloseable> parts = new ArrayList<>();
    parts.add(database::resume);
    if (process != null) {
      parts.addAll(processes());
    }
    parts.add(database);
    parts.add(queue);
    Closing.all(parts);
  }
}
