package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.rabbit.PublishHarness.Plain;
import dev.fencepost.rabbit.PublishHarness.Told;
import dev.fencepost.relay.Publisher.PublishChannel;
import dev.fencepost.relay.Publisher.Verdict;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TcpProxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Outages of a node of its own. Nothing is ever confirmed that does not arrive. */
class PublisherOutageIT {

  private static RabbitServer server;
  private final Told told = new Told();

  @BeforeAll
  static void start() {
    server = RabbitServer.start(Map.of("max_message_size", Integer.toString(1 << 20)));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void aKilledBrokerLeavesTheUnconfirmedWithoutVerdictAndTheConfirmedStored() throws Exception {
    String uri = server.newVhost();
    try (PublishHarness harness = new PublishHarness(uri)) {
      try (Plain plain = new Plain(uri)) {
        plain.queue("kill", Map.of("x-queue-type", "quorum"));
      }
      PublishChannel channel = harness.open("lane-0", told);
      List<OutboxRow> rows = harness.rows(20_000, "kill");
      for (int i = 0; i < rows.size(); i += 500) {
        harness.publish(channel, rows.subList(i, i + 500));
      }
      Await.until("some are confirmed", () -> told.verdicts.size() > 1000);
      server.kill();
      assertThat(told.awaitClosed(Duration.ofSeconds(10)).kind())
          .isEqualTo(FailureKind.CHANNEL_CLOSED);
      assertThat(told.refusals).isEmpty();
      assertThat(told.verdicts.values()).allMatch(v -> v.refusal() == null);
      assertThat(told.verdicts.size()).isLessThan(20_000);
      int before = told.verdicts.size();
      server.restart();

      Told again = new Told();
      PublishChannel next =
          Await.value("open again", Duration.ofSeconds(30), () -> harness.open("lane-0", again));
      List<OutboxRow> rest =
          rows.stream().filter(r -> !told.verdicts.containsKey(r.seq())).toList();
      harness.publish(next, rest);
      again.awaitVerdicts(rest.size());
      assertThat(told.verdicts).hasSize(before);
      assertThat(arrived(uri, "kill")).hasSize(20_000);
    }
  }

  @Test
  void aForcedClosureIsATransportFault() throws Exception {
    String uri = server.newVhost();
    try (PublishHarness harness = new PublishHarness(uri)) {
      harness.open("lane-0", told);
      server.closeAllConnections();
      assertThat(told.awaitClosed(Duration.ofSeconds(5)).getMessage()).contains("320");
      assertThat(told.refusals).isEmpty();
    }
  }

  @Test
  void aMessageAboveTheBrokersLimitAccusesItself() throws Exception {
    String uri = server.newVhost();
    try (PublishHarness harness = new PublishHarness(uri);
        Plain plain = new Plain(uri)) {
      plain.queue("big", Map.of());
      PublishChannel channel = harness.open("quarantine-0", told);
      harness.publish(
          channel, List.of(harness.row("", "big", new byte[(1 << 20) + 1], "{}", "{}")));
      assertThat(told.awaitClosed(Duration.ofSeconds(5)).kind())
          .isEqualTo(FailureKind.BROKER_PRECONDITION);
      assertThat(told.refusals).containsExactly(ParkedReason.TOO_LARGE);
    }
  }

  @Test
  void aHalfOpenConnectionEndsInTheConfirmTimeout() throws Exception {
    String uri = server.newVhost();
    try (TcpProxy proxy = TcpProxy.to(uri);
        PublishHarness harness = new PublishHarness(proxy.uri(uri), Duration.ofSeconds(2));
        Plain plain = new Plain(uri)) {
      plain.queue("half", Map.of());
      PublishChannel channel = harness.open("lane-0", told);
      proxy.freeze();
      harness.publish(channel, harness.rows(10, "half"));
      assertThat(told.awaitClosed(Duration.ofSeconds(5)).kind()).isEqualTo(FailureKind.TIMEOUT);
      assertThat(told.verdicts).isEmpty();
      assertThat(told.refusals).isEmpty();
      proxy.thaw();
      // The next channel does not get the doubtful connection.
      Told again = new Told();
      PublishChannel next = harness.open("lane-0", again);
      assertThat(proxy.accepted()).isEqualTo(2);
      harness.publish(next, harness.rows(10, "half"));
      again.awaitVerdicts(10);
    }
  }

  @Test
  void aHangingWriteIsCutFromOutside() throws Exception {
    String uri = server.newVhost();
    try (TcpProxy proxy = TcpProxy.to(uri);
        PublishHarness harness = new PublishHarness(proxy.uri(uri), Duration.ofSeconds(2));
        Plain plain = new Plain(uri)) {
      plain.queue("hang", Map.of());
      PublishChannel channel = harness.open("lane-0", told);
      proxy.freeze();
      // More than the sockets on the way take in.
      List<OutboxRow> rows = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        rows.add(harness.row("", "hang", new byte[1 << 20], "{}", "{}"));
      }
      harness.publish(channel, rows);
      assertThat(told.awaitClosed(Duration.ofSeconds(6)).kind()).isEqualTo(FailureKind.TIMEOUT);
      assertThat(told.verdicts).isEmpty();
      proxy.thaw();
      Told again = new Told();
      PublishChannel next = harness.open("lane-0", again);
      assertThat(proxy.accepted()).isEqualTo(2);
      harness.publish(next, harness.rows(10, "hang"));
      again.awaitVerdicts(10);
    }
  }

  @Test
  void aHangingWriteIsCutWhenTheLeaseEnds() throws Exception {
    String uri = server.newVhost();
    try (TcpProxy proxy = TcpProxy.to(uri);
        PublishHarness harness = new PublishHarness(proxy.uri(uri));
        Plain plain = new Plain(uri)) {
      plain.queue("lease", Map.of());
      PublishChannel channel = harness.open("lane-0", told);
      proxy.freeze();
      List<OutboxRow> rows = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        rows.add(harness.row("", "lease", new byte[1 << 20], "{}", "{}"));
      }
      harness.publish(channel, rows);
      harness.trust.set(System.nanoTime() + Duration.ofSeconds(1).toNanos());
      told.awaitClosed(Duration.ofSeconds(3));
      proxy.thaw();
      // What had not left by then never arrives: its connection has gone.
      Await.until("cut", Duration.ofSeconds(10), () -> proxy.connections() == 0);
      assertThat(plain.depth("lease")).isLessThan(60);
    }
  }

  @Test
  void anAlarmBlocksAndUnblocksWithoutLoss() throws Exception {
    String uri = server.newVhost();
    try (PublishHarness harness = new PublishHarness(uri, Duration.ofSeconds(1));
        Plain plain = new Plain(uri)) {
      plain.queue("alarm", Map.of());
      PublishChannel channel = harness.open("lane-0", told);
      Told neighbour = new Told();
      harness.open("lane-1", neighbour);
      server.memoryAlarm(true);
      try {
        harness.publish(channel, harness.rows(10, "alarm"));
        Await.until("blocked", () -> told.blocked.size() == 1 && neighbour.blocked.size() == 1);
        assertThat(told.blocked.get(0)).startsWith("true:").contains("memory");
        // A channel that is opened now does not wait for the blocked connection.
        Told late = new Told();
        PublishChannel another = harness.open("lane-2", late);
        harness.publish(another, harness.rows(1, "alarm"));
        Await.until("blocked too", () -> late.blocked.size() == 1);
        long blockedAt = System.nanoTime();
        Await.until(
            "longer than the confirm timeout",
            () -> System.nanoTime() - blockedAt > Duration.ofSeconds(2).toNanos());
        assertThat(told.closed).isEmpty();
      } finally {
        server.memoryAlarm(false);
      }
      told.awaitVerdicts(10);
      assertThat(told.verdicts.values()).extracting(Verdict::refusal).containsOnlyNulls();
      Await.until("unblocked", () -> told.blocked.size() == 2);
      assertThat(told.blocked.get(1)).startsWith("false:");
      assertThat(told.closed).isEmpty();
    }
  }

  @Test
  void oneChannelsFaultIsNotItsNeighbours() throws Exception {
    String uri = server.newVhost();
    try (PublishHarness harness = new PublishHarness(uri);
        Plain plain = new Plain(uri)) {
      plain.queue("fine", Map.of());
      PublishChannel bad = harness.open("lane-0", told);
      Told neighbour = new Told();
      PublishChannel good = harness.open("lane-1", neighbour);
      harness.publish(good, harness.rows(1000, "fine"));
      harness.publish(
          bad,
          List.of(harness.row("missing", "x", "{}".getBytes(StandardCharsets.UTF_8), "{}", "{}")));
      harness.publish(good, harness.rows(1000, "fine"));
      told.awaitClosed(Duration.ofSeconds(5));
      neighbour.awaitVerdicts(2000);
      assertThat(neighbour.closed).isEmpty();
    }
  }

  private static Set<String> arrived(String uri, String queue) throws Exception {
    Set<String> ids = new HashSet<>();
    try (Plain plain = new Plain(uri)) {
      plain.channel.basicConsume(
          queue,
          true,
          (tag, message) -> ids.add(message.getProperties().getMessageId()),
          tag -> {});
      Await.until("all have arrived", () -> ids.size() >= 20_000);
    }
    return ids;
  }
}
