package dev.fencepost.bench;

import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** RabbitMQ's PerfTest, publishing only: what the broker takes with confirms on this machine. */
final class BrokerLimit implements Entrant {

  private final Servers servers;
  private final Destination destination;
  private final AutoCloseable closed;
  private final int messages;
  private final int size;

  BrokerLimit(Servers servers, String queueType, int messages, int size) {
    this(servers, new Queue(servers.brokerUri(), "bench.limit", queueType), messages, size);
  }

  <D extends Destination & AutoCloseable> BrokerLimit(
      Servers servers, D destination, int messages, int size) {
    this.servers = servers;
    this.destination = destination;
    this.closed = destination;
    this.messages = messages;
    this.size = size;
  }

  @Override
  public String name() {
    return Peer.PERFTEST.word();
  }

  @Override
  public String settings() {
    return "1 producer, no consumer, persistent, 1000 unconfirmed; a new process each round, measured"
        + " over its second half";
  }

  @Override
  public void start() {}

  @Override
  public Map<String, Double> round(int number) {
    destination.recreate();
    int all = messages * 2;
    List<String> arguments =
        List.of(
            "com.rabbitmq.perf.PerfTest",
            "--uri",
            servers.brokerUri(),
            "--predeclared",
            "--exchange",
            destination.exchange(),
            "--routing-key",
            destination.routingKey(),
            "--producers",
            "1",
            "--consumers",
            "0",
            "--size",
            Integer.toString(size),
            "--flag",
            "persistent",
            "--confirm",
            "1000",
            "--pmessages",
            Integer.toString(all));
    try (JavaProcess process = JavaProcess.start("perftest", Paths.peers(), arguments)) {
      Figures.Moment from = passes(process, messages);
      Figures.Moment to = passes(process, all);
      Map<String, Double> figures = Figures.between(from, to, destination.copies());
      figures.remove(Figures.POSTGRES);
      return figures;
    }
  }

  private Figures.Moment passes(JavaProcess process, int count) {
    while (true) {
      long depth = destination.depth();
      if (depth >= count) {
        return new Figures.Moment(
            System.nanoTime(),
            depth,
            new Contender.Cpu(Proc.cpu(process.pid()), 0, servers.brokerCpu()));
      }
      if (!process.isAlive() && destination.depth() < count) {
        throw new IllegalStateException("PerfTest has ended\n" + process.logText());
      }
      LockSupport.parkNanos(40_000_000);
    }
  }

  @Override
  public void freeze() {}

  @Override
  public void thaw() {}

  @Override
  public void close() {
    try {
      closed.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
