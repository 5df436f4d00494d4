package dev.fencepost.bench;

import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** RabbitMQ's PerfTest, publishing only: what the broker takes with confirms on this machine. */
final class BrokerLimit implements Entrant {

  private final Servers servers;
  private final Queue queue;
  private final int messages;
  private final int size;

  BrokerLimit(Servers servers, String queueType, int messages, int size) {
    this.servers = servers;
    this.queue = new Queue(servers.brokerUri(), "bench.limit", queueType);
    this.messages = messages;
    this.size = size;
  }

  @Override
  public String name() {
    return "PerfTest";
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
    queue.recreate();
    int all = messages * 2;
    List<String> arguments =
        List.of(
            "com.rabbitmq.perf.PerfTest",
            "--uri",
            servers.brokerUri(),
            "--predeclared",
            "--queue",
            queue.name(),
            "--exchange",
            "",
            "--routing-key",
            queue.name(),
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
      Map<String, Double> figures = Figures.between(from, to);
      figures.remove(Figures.POSTGRES);
      return figures;
    }
  }

  private Figures.Moment passes(JavaProcess process, int count) {
    while (true) {
      long depth = queue.depth();
      if (depth >= count) {
        return new Figures.Moment(
            System.nanoTime(),
            depth,
            new Contender.Cpu(Proc.cpu(process.pid()), 0, servers.brokerCpu()));
      }
      if (!process.isAlive() && queue.depth() < count) {
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
    queue.close();
  }
}
