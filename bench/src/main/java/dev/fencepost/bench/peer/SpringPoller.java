package dev.fencepost.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.util.ArrayList;
import java.util.List;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The outbox poller that many teams write themselves: lock 500 rows, send them, wait for their
 * correlated confirms, delete them, commit; two threads.
 */
public final class SpringPoller {

  private static final int PAGE = 500;
  private static final int THREADS = 2;

  private final JdbcTemplate jdbc;
  private final TransactionTemplate transaction;
  private final RabbitTemplate rabbit;

  private final long idleMillis;

  private SpringPoller(HikariDataSource pool, RabbitTemplate rabbit, long idleMillis) {
    this.jdbc = new JdbcTemplate(pool);
    this.transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
    this.rabbit = rabbit;
    this.idleMillis = idleMillis;
  }

  private record Row(long id, String eventId, String routingKey, String type, byte[] payload) {}

  public static void main(String[] arguments) {
    RabbitTemplate rabbit = Messages.template(arguments[1], 2 * PAGE * THREADS);
    HikariDataSource pool = Pool.of(arguments[0], THREADS);
    long idleMillis = Long.parseLong(arguments[3]);
    for (int i = 0; i < THREADS; i++) {
      new Thread(new SpringPoller(pool, rabbit, idleMillis)::poll, "poller-" + i).start();
    }
  }

  private void poll() {
    while (true) {
      Integer done = transaction.execute(status -> page());
      if (done == null || done == 0) {
        pause();
      }
    }
  }

  private int page() {
    List<Row> rows =
        jdbc.query(
            "select id, event_id, routing_key, type, payload from outbox order by id limit "
                + PAGE
                + " for update skip locked",
            (set, index) ->
                new Row(
                    set.getLong(1),
                    set.getString(2),
                    set.getString(3),
                    set.getString(4),
                    set.getBytes(5)));
    if (rows.isEmpty()) {
      return 0;
    }
    List<CorrelationData> confirms = new ArrayList<>(rows.size());
    // One channel for the page: each message on a channel of its own costs half the rate.
    rabbit.invoke(
        operations -> {
          for (Row row : rows) {
            CorrelationData confirm = new CorrelationData(row.eventId());
            Message message = Messages.spring(row.eventId(), row.payload());
            operations.send("", row.routingKey(), message, confirm);
            confirms.add(confirm);
          }
          return null;
        });
    confirms.forEach(SpringPoller::await);
    Long[] ids = rows.stream().map(Row::id).toArray(Long[]::new);
    jdbc.update("delete from outbox where id = any(?)", (Object) ids);
    return rows.size();
  }

  private static void await(CorrelationData confirm) {
    try {
      Messages.await(confirm);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void pause() {
    try {
      Thread.sleep(idleMillis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
