package dev.fencepost.bench.peer;

import io.namastack.outbox.annotation.OutboxHandler;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** namastack-outbox over RabbitMQ; its handler sends a message and waits for its confirm. */
public final class NamastackOutbox {

  private static final int THREADS = 16;

  /** How the library names the handler in its rows. */
  public static final String HANDLER =
      Publishing.class.getName() + "#publish(" + Event.class.getName() + ")";

  private static String url;
  private static String broker;
  private static String queue;

  private NamastackOutbox() {}

  /** What an application hands to the outbox. */
  public record Event(int number, String body) {}

  /** What the outbox calls. */
  public static class Publishing {

    private final RabbitTemplate rabbit;

    Publishing(RabbitTemplate rabbit) {
      this.rabbit = rabbit;
    }

    /** Publishes one message and waits for its confirm. */
    @OutboxHandler
    public void publish(Event event) throws Exception {
      CorrelationData confirm = new CorrelationData(UUID.randomUUID().toString());
      rabbit.send("", queue, message(event, confirm.getId()), confirm);
      Messages.await(confirm);
    }

    private static Message message(Event event, String id) {
      byte[] text = event.body().getBytes(StandardCharsets.UTF_8);
      byte[] body =
          ByteBuffer.allocate(Integer.BYTES + text.length).putInt(event.number()).put(text).array();
      return Messages.spring(id, body);
    }
  }

  /** The application around it. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  public static class Application {

    @Bean
    DataSource dataSource() {
      return Pool.autoCommit(url, THREADS + 4);
    }

    @Bean
    Publishing publishing() {
      return new Publishing(Messages.template(broker, 4 * THREADS));
    }
  }

  public static void main(String[] arguments) {
    url = arguments[0];
    broker = arguments[1];
    queue = arguments[2];
    // Spring Boot's logging asks for another Logback than the one that PerfTest brings.
    System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    SpringApplication application = new SpringApplication(Application.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setDefaultProperties(
        Map.of(
            "spring.main.banner-mode", "off",
            "spring.main.keep-alive", "true",
            "namastack.outbox.polling.trigger", "fixed",
            "namastack.outbox.polling.batch-size", "1000",
            "namastack.outbox.polling.fixed.interval", arguments[3] + "ms",
            "namastack.outbox.processing.delete-completed-records", "true",
            "namastack.outbox.processing.executor-core-pool-size", Integer.toString(THREADS),
            "namastack.outbox.processing.executor-max-pool-size", Integer.toString(THREADS),
            // It is frozen while others are measured.
            "namastack.outbox.instance.stale-instance-timeout", "10h"));
    application.run();
  }
}
