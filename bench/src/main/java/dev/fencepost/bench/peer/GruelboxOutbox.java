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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Scanner;
import java.util.UUID;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/** gruelbox transaction-outbox over RabbitMQ. */
public final class GruelboxOutbox {

  /** Rows that others have written are found by flushing. */
  public static final String FLUSHING = "flushing";

  /** What this process schedules is published right after the commit. */
  public static final String IMMEDIATE = "immediate";

  private static final int THREADS = 16;
  private static final int WRITERS = 8;

  private GruelboxOutbox() {}

  /** What the outbox invokes. */
  public interface Publisher {
    /** Publishes one message and waits for its confirm. */
    void publish(int number, int size);
  }

  private static final class Publishing implements Publisher {

    private final Connection connection;
    private final String queue;
    private final ThreadLocal<Channel> channels = ThreadLocal.withInitial(this::channel);

    Publishing(Connection connection, String queue) {
      this.connection = connection;
      this.queue = queue;
    }

    @Override
    public void publish(int number, int size) {
      byte[] body = Messages.body(number, size);
      BasicProperties properties = Messages.properties(UUID.randomUUID().toString());
      try {
        channels.get().basicPublish("", queue, true, properties, body);
        channels.get().waitForConfirmsOrDie(30_000);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
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
      outbox(TransactionManager.fromDataSource(pool), null, (entry, executor) -> {}).initialize();
    }
  }

  /** The library's form of {@link Publisher#publish}, as an SQL expression. */
  public static String invocation(String number, int size) {
    String name = Publisher.class.getName();
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
    HikariDataSource pool = Pool.of(arguments[0], THREADS + WRITERS + 2);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS, THREADS, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
    TransactionManager transactions = TransactionManager.fromDataSource(pool);
    TransactionOutbox outbox =
        outbox(transactions, publishing, ExecutorSubmitter.builder().executor(threads).build());
    boolean immediate = arguments[3].equals(IMMEDIATE);
    if (immediate) {
      new Thread(() -> obey(transactions, outbox), "application").start();
    }
    while (true) {
      if (!outbox.flush()) {
        Thread.sleep(immediate ? 1000 : 5);
      }
    }
  }

  /** Each line asks for so many events, at a rate, of a size, and names the file for their moments. */
  private static void obey(TransactionManager transactions, TransactionOutbox outbox) {
    try (Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8)) {
      while (lines.hasNextLine()) {
        String[] words = lines.nextLine().split(" ", 4);
        int size = Integer.parseInt(words[2]);
        long[] moments =
            Writers.run(
                Integer.parseInt(words[0]),
                Integer.parseInt(words[1]),
                () -> writer(transactions, outbox, size));
        Path file = Path.of(words[3]);
        Path part = Path.of(words[3] + ".part");
        Files.write(part, LongStream.of(moments).mapToObj(Long::toString).toList());
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      }
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  private static Writers.Writer writer(
      TransactionManager transactions, TransactionOutbox outbox, int size) {
    return new Writers.Writer() {
      @Override
      public void commit(int event) {
        transactions.inTransaction(
            transaction -> outbox.schedule(Publisher.class).publish(event, size));
      }

      @Override
      public void close() {}
    };
  }

  private static TransactionOutbox outbox(
      TransactionManager transactions, Publisher publishing, Submitter submitter) {
    return TransactionOutbox.builder()
        .transactionManager(transactions)
        .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
        .instantiator(Instantiator.using(type -> publishing))
        .submitter(submitter)
        .flushBatchSize(1000)
        .initializeImmediately(publishing != null)
        .build();
  }
}
