package dev.fencepost.rabbit;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** A publisher on a context of its own, and a plain client beside it. */
final class PublishHarness implements AutoCloseable {

  final Vertx vertx = Vertx.vertx();
  final Context context = vertx.getOrCreateContext();
  final RabbitBroker broker;
  final RabbitPublisher publisher;
  final AtomicLong trust = new AtomicLong(System.nanoTime() + Duration.ofHours(1).toNanos());
  private final AtomicLong seq = new AtomicLong();

  PublishHarness(String uri) {
    this(uri, Duration.ofSeconds(30));
  }

  PublishHarness(String uri, Duration confirmTimeout) {
    broker =
        new RabbitBroker(
            vertx, new FencepostConfig.Broker(List.of(uri), null, Duration.ofMinutes(30)));
    publisher =
        broker.publisher(
            new FencepostConfig.Relay.Limits(
                16 << 20, confirmTimeout, Duration.ofSeconds(1), Duration.ofMinutes(5), 100_000));
  }

  /** What a listener was told. */
  static final class Told implements Publisher.Listener {
    final Map<Long, Publisher.Verdict> verdicts = new ConcurrentHashMap<>();
    final List<Long> order = new CopyOnWriteArrayList<>();
    final AtomicInteger repeated = new AtomicInteger();
    final List<String> blocked = new CopyOnWriteArrayList<>();
    final List<FencepostException> closed = new CopyOnWriteArrayList<>();
    final List<ParkedReason> refusals = new CopyOnWriteArrayList<>();
    volatile Thread thread;

    @Override
    public void settled(List<Publisher.Verdict> batch) {
      thread = Thread.currentThread();
      for (Publisher.Verdict v : batch) {
        order.add(v.seq());
        if (verdicts.put(v.seq(), v) != null) {
          repeated.incrementAndGet();
        }
      }
    }

    @Override
    public void blocked(boolean now, String reason) {
      blocked.add(now + ":" + reason);
    }

    @Override
    public void closed(FencepostException cause, ParkedReason refusal) {
      if (refusal != null) {
        refusals.add(refusal);
      }
      closed.add(cause);
    }

    void awaitVerdicts(int count) {
      Await.until(count + " verdicts", () -> verdicts.size() == count);
    }

    FencepostException awaitClosed(Duration within) {
      return Await.value("closed", within, () -> closed.isEmpty() ? null : closed.get(0));
    }
  }

  Publisher.PublishChannel open(String name, Told told) {
    return Await.result(onContext(() -> publisher.open(name, trust::get, told)));
  }

  void publish(Publisher.PublishChannel channel, List<OutboxRow> rows) {
    context.runOnContext(v -> channel.publish(rows));
  }

  <T> Future<T> onContext(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(v -> call.get().onComplete(promise));
    return promise.future();
  }

  /** When all rows of these tests were written. */
  static final Instant WRITTEN = Instant.parse("2024-02-03T04:05:06Z");

  OutboxRow row(String exchange, String routingKey) {
    return row(exchange, routingKey, "{}".getBytes(StandardCharsets.UTF_8), "{}", "{}");
  }

  OutboxRow row(
      String exchange, String routingKey, byte[] body, String headers, String properties) {
    long n = seq.incrementAndGet();
    return new OutboxRow(
        new OutboxRow.Position(7, n, 0),
        new OutboxRow.Route(exchange, routingKey),
        "event-" + n,
        "order.placed",
        "order-" + n % 10,
        new OutboxRow.Message(body, "application/json", headers, properties, WRITTEN));
  }

  List<OutboxRow> rows(int count, String queue) {
    return java.util.stream.IntStream.range(0, count).mapToObj(i -> row("", queue)).toList();
  }

  /** A plain client of the broker. */
  static final class Plain implements AutoCloseable {
    final Connection connection;
    final Channel channel;

    Plain(String uri) {
      try {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(uri);
        if (uri.endsWith("/")) {
          factory.setVirtualHost("/");
        }
        connection = factory.newConnection("plain");
        channel = connection.createChannel();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    void queue(String name, Map<String, Object> arguments) throws Exception {
      channel.queueDeclare(name, true, false, false, arguments);
    }

    GetResponse get(String queue) {
      return Await.value(
          "a message in " + queue, Duration.ofSeconds(10), () -> channel.basicGet(queue, true));
    }

    long depth(String queue) throws Exception {
      return channel.messageCount(queue);
    }

    @Override
    public void close() throws Exception {
      connection.abort(1000);
    }
  }

  @Override
  public void close() {
    Await.result(onContext(broker::close));
    Await.result(vertx.close());
  }
}
