package dev.fencepost.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.util.List;
import org.springframework.amqp.core.BatchMessageListener;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Spring AMQP's batch listener: one batched insert of receipts for up to 1,000 messages, which fail
 * and are acknowledged as a whole.
 */
public final class SpringBatch {

  private static final int BATCH = 1000;
  private static final int CONSUMERS = 2;

  private SpringBatch() {}

  public static void main(String[] arguments) {
    HikariDataSource pool = Pool.of(arguments[0], CONSUMERS);
    JdbcTemplate jdbc = new JdbcTemplate(pool);
    TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
    CachingConnectionFactory factory = new CachingConnectionFactory(URI.create(arguments[1]));
    SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(factory);
    container.setQueueNames(arguments[2]);
    container.setConcurrentConsumers(CONSUMERS);
    container.setPrefetchCount(2 * BATCH);
    container.setConsumerBatchEnabled(true);
    container.setBatchSize(BATCH);
    container.setBatchReceiveTimeout(50);
    container.setMessageListener(
        new BatchMessageListener() {
          @Override
          public void onMessageBatch(List<Message> messages) {
            transaction.executeWithoutResult(status -> receipts(jdbc, messages));
          }

          @Override
          public void onMessage(Message message) {
            onMessageBatch(List.of(message));
          }
        });
    container.start();
  }

  private static void receipts(JdbcTemplate jdbc, List<Message> messages) {
    jdbc.batchUpdate(
        "insert into receipt (event_id) values (?) on conflict do nothing",
        messages.stream()
            .map(message -> new Object[] {message.getMessageProperties().getMessageId()})
            .toList());
  }
}
