package dev.fencepost.bench;

import dev.fencepost.testing.Await;
import java.time.Duration;

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
    this.queue = new Queue(servers.brokerUri(), "bench." + name.replace(' ', '-'), queueType);
    this.database = new Servers.Database();
  }

  /** Makes its tables. */
  abstract void prepare();

  abstract JavaProcess launch();

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

  final void start() {
    prepare();
    process = launch();
    await("ready", Duration.ofMinutes(2), this::ready);
  }

  /** Whether what is written from now on is seen. */
  boolean ready() {
    return true;
  }

  final void freeze() {
    process.stop();
    database.pause();
  }

  final void thaw() {
    database.resume();
    process.resume();
  }

  final void checkAlive() {
    if (!process.isAlive()) {
      throw new IllegalStateException(name + " has ended\n" + process.logText());
    }
  }

  final void await(String what, Duration deadline, java.util.concurrent.Callable<Boolean> condition) {
    try {
      // What the condition throws counts as false: an ended process is looked for apart.
      Await.until(name + ": " + what, deadline, () -> !process.isAlive() || condition.call());
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
    return new Cpu(Proc.cpu(process.pid()), database.cpu(), servers.brokerCpu());
  }

  record Cpu(double own, double postgres, double broker) {
    Cpu minus(Cpu other) {
      return new Cpu(own - other.own, postgres - other.postgres, broker - other.broker);
    }
  }

  @Override
  public void close() {
    database.resume();
    if (process != null) {
      process.close();
    }
    database.close();
    queue.close();
  }
}
