package dev.fencepost.bench.peer;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.ExecutorSubmitter;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** gruelbox transaction-outbox over RabbitMQ. */
public final class GruelboxOutbox {

  private static final int THREADS = 16;

  private GruelboxOutbox() {}

  /** What the outbox invokes. */
  public static class Publishing {

    private final Connection connection;
    private final String queue;
    private final ThreadLocal<Channel> channels = ThreadLocal.withInitial(this::channel);

    Publishing(Connection connection, String queue) {
      this.connection = connection;
      this.queue = queue;
    }

    /** Publishes one message and waits for its confirm. */
    public void publish(int number, int size) throws Exception {
      byte[] body = new byte[size];
      Arrays.fill(body, (byte) 'x');
      ByteBuffer.wrap(body).putInt(number);
      BasicProperties properties =
          new BasicProperties.Builder()
              .messageId(UUID.randomUUID().toString())
              .type("order.placed")
              .contentType("application/json")
              .deliveryMode(2)
              .build();
      channels.get().basicPublish("", queue, true, properties, body);
      channels.get().waitForConfirmsOrDie(30_000);
    }

    private Channel channel() {
      try {
        Channel channel = connection.createChannel();
        channel.confirmSelect();
        return channel;
      } catch (java.io.IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Makes the library's tables. */
  public static void create(String jdbcUrl) {
    try (HikariDataSource pool = Pool.of(jdbcUrl, 1)) {
      outbox(pool, null, (entry, executor) -> {}).initialize();
    }
  }

  /** The library's form of {@link Publishing#publish}, as an SQL expression. */
  public static String invocation(String number, int size) {
    String name = Publishing.class.getName();
    return "'{\"c\":\""
        + name
        + "\",\"m\":\"publish\",\"p\":[\"int\",\"int\"],\"a\":[{\"t\":\"int\",\"v\":' || "
        + number
        + " || '},{\"t\":\"int\",\"v\":"
        + size
        + "}]}'";
  }

  public static void main(String[] arguments) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(arguments[1]);
    Publishing publishing = new Publishing(factory.newConnection(), arguments[2]);
    HikariDataSource pool = Pool.of(arguments[0], THREADS + 2);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS, THREADS, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(16_384));
    TransactionOutbox outbox =
        outbox(pool, publishing, ExecutorSubmitter.builder().executor(threads).build());
    while (true) {
      if (!outbox.flush()) {
        Thread.sleep(5);
      }
    }
  }

  private static TransactionOutbox outbox(
      HikariDataSource pool, Publishing publishing, Submitter submitter) {
    return TransactionOutbox.builder()
        .transactionManager(TransactionManager.fromDataSource(pool))
        .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
        .instantiator(Instantiator.using(type -> publishing))
        .submitter(submitter)
        .flushBatchSize(1000)
        .initializeImmediately(publishing != null)
        .build();
  }
}
