package dev.fencepost.bench;

import java.util.List;
import java.util.stream.IntStream;

/** A fanout exchange with a number of quorum queues. */
final class Fan implements Destination, AutoCloseable {

  private final String exchange;
  private final List<Queue> queues;

  Fan(String brokerUri, String exchange, int copies) {
    this.exchange = exchange;
    this.queues =
        IntStream.range(0, copies)
            .mapToObj(i -> new Queue(brokerUri, exchange + "." + i, "quorum"))
            .toList();
    queues.get(0).declareFanout(exchange);
    queues.forEach(queue -> queue.bind(exchange));
  }

  @Override
  public String exchange() {
    return exchange;
  }

  @Override
  public String routingKey() {
    return "";
  }

  @Override
  public void recreate() {
    queues.forEach(
        queue -> {
          queue.recreate();
          queue.bind(exchange);
        });
  }

  @Override
  public long depth() {
    return queues.stream().mapToLong(Queue::depth).sum() / queues.size();
  }

  @Override
  public int copies() {
    return queues.size();
  }

  @Override
  public void close() {
    queues.get(0).deleteExchange(exchange);
    queues.forEach(Queue::close);
  }
}
