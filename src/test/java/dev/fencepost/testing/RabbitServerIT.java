package dev.fencepost.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.PossibleAuthenticationFailureException;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class RabbitServerIT {

  private static Connection connect(String uri) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(uri);
    factory.setAutomaticRecoveryEnabled(false);
    return factory.newConnection();
  }

  @Test
  void everyVirtualHostIsEmpty() throws Exception {
    RabbitServer server = TestServers.broker();
    String first = server.newVhost();
    String second = server.newVhost();
    assertThat(TestServers.broker()).isSameAs(server);
    try (Connection one = connect(first);
        Connection two = connect(second)) {
      one.createChannel().queueDeclare("q", true, false, false, Map.of("x-queue-type", "quorum"));
      Channel channel = two.createChannel();
      assertThatThrownBy(() -> channel.queueDeclarePassive("q"))
          .hasRootCauseMessage(
              "channel error; protocol method: #method<channel.close>(reply-code=404,"
                  + " reply-text=NOT_FOUND - no queue 'q' in vhost '"
                  + second.substring(second.lastIndexOf('/') + 1)
                  + "', class-id=50, method-id=10)");
    }
    server.deleteVhost(first);
    assertThatThrownBy(() -> connect(first)).isInstanceOf(Exception.class);
    assertThat(server.ctl("list_vhosts"))
        .contains(second.substring(second.lastIndexOf('/') + 1))
        .doesNotContain(first.substring(first.lastIndexOf('/') + 1) + "\n");
  }

  @Test
  void usersHaveTheirPermissionsOnly() throws Exception {
    RabbitServer server = TestServers.broker();
    String vhost = server.newVhost();
    String reader = server.addUser(vhost, "reader", "p@ss/word", "", "", ".*");
    try (Connection connection = connect(reader)) {
      Channel channel = connection.createChannel();
      assertThatThrownBy(() -> channel.queueDeclare("mine", true, false, false, null))
          .rootCause()
          .hasMessageContaining("reply-code=403");
    }
    assertThatThrownBy(() -> connect(RabbitServer.uriAs(vhost, "reader", "wrong")))
        .isInstanceOf(PossibleAuthenticationFailureException.class);
  }

  @Test
  void alarmsBlockPublishers() throws Exception {
    RabbitServer server = TestServers.broker();
    AtomicReference<String> blocked = new AtomicReference<>();
    try (Connection connection = connect(server.newVhost())) {
      connection.addBlockedListener(blocked::set, () -> blocked.set(null));
      for (String resource : new String[] {"memory", "disk"}) {
        raise(server, resource, true);
        connection.createChannel().basicPublish("", "nowhere", null, new byte[1]);
        Await.until("blocked", () -> blocked.get() != null);
        assertThat(blocked.get()).contains(resource);
        raise(server, resource, false);
        Await.until("unblocked", () -> blocked.get() == null);
      }
    }
  }

  private static void raise(RabbitServer server, String resource, boolean raised) {
    if (resource.equals("memory")) {
      server.memoryAlarm(raised);
    } else {
      server.diskAlarm(raised);
    }
  }

  @Test
  void closesConnections() throws Exception {
    RabbitServer server = TestServers.broker();
    AtomicReference<ShutdownSignalException> cause = new AtomicReference<>();
    Connection connection = connect(server.newVhost());
    connection.addShutdownListener(cause::set);
    server.closeAllConnections();
    Await.until("the connection is closed", () -> cause.get() != null);
    assertThat(cause.get()).hasMessageContaining("reply-code=320");
  }

  @Test
  void survivesKillAndStopWithWhatWasConfirmed() throws Exception {
    try (RabbitServer server = RabbitServer.start()) {
      String vhost = server.newVhost();
      Connection lost = connect(vhost);
      try (Channel channel = lost.createChannel()) {
        channel.queueDeclare("kept", true, false, false, Map.of("x-queue-type", "quorum"));
        channel.confirmSelect();
        channel.basicPublish("", "kept", MessageProperties.PERSISTENT_BASIC, new byte[] {7});
        channel.waitForConfirmsOrDie(10_000);
      }
      server.kill();
      assertThat(server.isRunning()).isFalse();
      Await.until("the client notices", () -> !lost.isOpen());
      server.restart();
      server.restart();
      try (Connection connection = connect(vhost)) {
        Channel channel = connection.createChannel();
        assertThat(
                Await.value(
                        "the message", Duration.ofSeconds(20), () -> channel.basicGet("kept", true))
                    .getBody())
            .containsExactly(7);
        server.pause();
        CompletableFuture<Channel> opening =
            CompletableFuture.supplyAsync(() -> openChannel(connection));
        assertThatThrownBy(() -> opening.get(300, TimeUnit.MILLISECONDS))
            .isInstanceOf(TimeoutException.class);
        server.resume();
        assertThat(opening.get(20, TimeUnit.SECONDS).isOpen()).isTrue();
      }
    }
  }

  private static Channel openChannel(Connection connection) {
    try {
      return connection.createChannel();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void managementAnswersWhereItIsAskedFor() throws Exception {
    try (RabbitServer server =
        RabbitServer.startWithManagement(Map.of("consumer_timeout", "123000"))) {
      HttpResponse<String> answer =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(
                          URI.create(
                              server.managementUri().replace("guest:guest@", "") + "/api/overview"))
                      .header(
                          "Authorization",
                          "Basic " + Base64.getEncoder().encodeToString("guest:guest".getBytes()))
                      .build(),
                  HttpResponse.BodyHandlers.ofString());
      assertThat(answer.body()).contains("rabbitmq_version");
      assertThat(server.eval("application:get_env(rabbit, consumer_timeout)"))
          .isEqualTo("{ok,123000}");
    }
  }

  @Test
  void aBrokerSomebodyElseRunsIsNeverTouched() throws Exception {
    RabbitServer outside = RabbitServer.outside(TestServers.broker().uri());
    connect(outside.newVhost()).close();
    assertThatThrownBy(outside::stop)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("refused")
        .hasMessageContaining(TestServers.BROKER_URI);
    outside.close();
    assertThat(TestServers.broker().isRunning()).isTrue();
  }
}
