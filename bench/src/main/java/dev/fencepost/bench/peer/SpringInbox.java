package dev.fencepost.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import org.springframework.amqp.core.MessageListener;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Spring AMQP with an inbox: a transaction and a receipt for each message, 16 consumers. */
public final class SpringInbox {

  private static final int CONSUMERS = 16;

  private SpringInbox() {}

  public static void main(String[] arguments) {
    HikariDataSource pool = Pool.of(arguments[0], CONSUMERS);
    JdbcTemplate jdbc = new JdbcTemplate(pool);
    TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
    CachingConnectionFactory factory = new CachingConnectionFactory(URI.create(arguments[1]));
    SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(factory);
    container.setQueueNames(arguments[2]);
    container.setConcurrentConsumers(CONSUMERS);
    container.setPrefetchCount(100);
    container.setMessageListener(
        (MessageListener)
            message ->
                transaction.executeWithoutResult(
                    status ->
                        jdbc.update(
                            "insert into receipt (event_id) values (?) on conflict do nothing",
                            message.getMessageProperties().getMessageId())));
    container.start();
  }
}
