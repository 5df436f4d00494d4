package dev.fencepost.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.fencepost.testing.Await;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EmbeddedServersIT {

  @Test
  void postgresAnswersAndLeavesNothing() throws Exception {
    long before = folders();
    URI uri;
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
      uri = URI.create(postgres.uri());
      try (var connection = DriverManager.getConnection(jdbc(uri), "postgres", "postgres");
          ResultSet rows = connection.createStatement().executeQuery("show server_version_num")) {
        assertThat(rows.next()).isTrue();
        assertThat(rows.getInt(1)).isGreaterThan(160000);
      }
    }
    String gone = jdbc(uri);
    assertThatThrownBy(() -> DriverManager.getConnection(gone, "postgres", "postgres"))
        .hasMessageContaining("refused");
    assertThat(folders()).isEqualTo(before);
  }

  @Test
  void brokerConfirmsAndDelivers() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    try (EmbeddedBroker broker = EmbeddedBroker.start()) {
      factory.setUri(broker.uri());
      try (Connection connection = factory.newConnection();
          Channel channel = connection.createChannel()) {
        channel.confirmSelect();
        channel.queueDeclare("q", true, false, false, null);
        byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
        channel.basicPublish("", "q", true, new AMQP.BasicProperties(), body);
        assertThat(channel.waitForConfirms(5000)).isTrue();
        GetResponse got = channel.basicGet("q", true);
        assertThat(got.getBody()).isEqualTo(body);
      }
    }
    assertThatThrownBy(factory::newConnection).hasMessageContaining("refused");
  }

  @Test
  void brokerTellsWhatIsUnderWay() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    try (EmbeddedBroker broker = EmbeddedBroker.start()) {
      factory.setUri(broker.uri());
      try (Connection connection = factory.newConnection();
          Channel channel = connection.createChannel()) {
        channel.queueDeclare("q", true, false, false, null);
        channel.queueDeclare("r", true, false, false, null);
        for (String queue : new String[] {"q", "q", "r", "nowhere"}) {
          channel.basicPublish("", queue, null, new byte[1]);
        }
        GetResponse first = channel.basicGet("q", false);
        GetResponse second = channel.basicGet("q", false);
        assertThat(broker.traffic())
            .as("delivered is not acknowledged")
            .isEqualTo(new EmbeddedBroker.Traffic(3, 3));
        channel.basicNack(first.getEnvelope().getDeliveryTag(), false, true);
        channel.basicAck(second.getEnvelope().getDeliveryTag(), false);
        channel.basicGet("r", true);
        Await.until("one is held", () -> broker.traffic().equals(new EmbeddedBroker.Traffic(3, 1)));
      }
    }
  }

  private static String jdbc(URI uri) {
    return "jdbc:postgresql://" + uri.getHost() + ":" + uri.getPort() + uri.getPath();
  }

  private static long folders() throws Exception {
    try (Stream<Path> all = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return all.filter(p -> p.getFileName().toString().startsWith("fencepost-postgres")).count();
    }
  }
}
