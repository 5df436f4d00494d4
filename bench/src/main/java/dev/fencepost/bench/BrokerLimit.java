package dev.fencepost.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * RabbitMQ's PerfTest, publishing only: what the broker takes with confirms on this machine, from a publisher that
 * reads no database. It has as many channels as the relay has lanes, each with the same window: from one channel the
 * broker takes less.
 */
final class BrokerLimit implements Entrant {

  /**
   * What the relay's messages carry beside their bodies. A classic queue writes it into its index: there a bare
   * message costs the broker a third less.
   */
  private static final String PROPERTIES =
      "messageId=8d2f6c1e-4b7a-4f39-9c55-0a1b2c3d4e5f,type=order.placed,contentType=application/json,"
          + "timestamp=2026-01-01T00:00:00+00:00,fencepost-key=order-1234";

  private static final int CHANNELS = 8;
  private static final Duration DEADLINE = Duration.ofMinutes(5);

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
    return "1 producer with 8 channels, no consumer, persistent, mandatory, 1000 unconfirmed a channel, the"
        + " properties and header of the relay's messages; a new process each round, measured over its second half";
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
            "--producer-channel-count",
            Integer.toString(CHANNELS),
            "--consumers",
            "0",
            "--size",
            Integer.toString(size),
            "--flag",
            "persistent",
            "--flag",
            "mandatory",
            "--message-properties",
            PROPERTIES,
            "--confirm",
            "1000",
            "--pmessages",
            Integer.toString((all + messages / 10) / CHANNELS));
    try (JavaProcess process = JavaProcess.start("perftest", Paths.peers(), arguments)) {
      Figures.Moment from = passes(process, messages);
      Figures.Moment to = passes(process, all);
      Map<String, Double> figures = Figures.between(from, to, destination.copies());
      figures.remove(Figures.POSTGRES);
      return figures;
    }
  }

  private Figures.Moment passes(JavaProcess process, int count) {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (System.nanoTime() < end) {
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
    throw new IllegalStateException(name() + " did not end within " + DEADLINE + "\n" + process.logText());
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
