package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A row that left the table of parked rows while an earlier one of its lane had no answer yet: the
 * lane's checkpoint lies before it, and whoever reads from there meets it again.
 */
class ParkedAndGoneIT {
  private final FencepostConfig.Relay relay = RelayConfigs.relay(1);
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private Outbox outbox;

  @BeforeEach
  void migrate() {
    outbox = new Outbox(Databases.migrated(relay));
  }

  @Test
  void aSkippedRowStaysSkippedWhenTheProcessDies() {
    RelayProcess process = parkedBehindOneThatIsOut();
    outbox.ask("skip", "b");
    goneAndKilled(process);

    assertThat(arrivedAnew()).containsExactly("first", "last");
  }

  @Test
  void aRedirectedRowDoesNotGoToItsOldExchangeWhenTheProcessDies() {
    RelayProcess process = parkedBehindOneThatIsOut();
    outbox.execute(
        "insert into fencepost.parked_requests (lane, seq, action, exchange, operator)"
            + " select lane, seq, 'redirect', 'new', 'test' from fencepost.parked");
    goneAndKilled(process);
    assertThat(broker.rows())
        .extracting(row -> row.route().exchange())
        .containsExactly("old", "new");

    assertThat(arrivedAnew()).containsExactly("first", "last");
  }

  @Test
  void aSkippedRowStaysSkippedWhenTheOutboxIsLaidAnew() {
    RelayProcess process = parkedBehindOneThatIsOut();
    outbox.ask("skip", "b");
    goneAndKilled(process);
    FencepostConfig.Relay two = RelayConfigs.relay(2);
    Databases.rebase(outbox.uri(), two);

    assertThat(arrivedAnew(two)).containsExactlyInAnyOrder("first", "last");
    assertThat(remembered()).isZero();
  }

  /** What the checkpoint has passed need not be remembered. */
  @Test
  void whatTheCheckpointHasPassedIsForgotten() {
    RelayProcess killed = parkedBehindOneThatIsOut();
    outbox.ask("skip", "b");
    goneAndKilled(killed);
    assertThat(remembered()).isEqualTo(1);
    broker.owes = row -> false;
    try (RelayProcess process = process(relay)) {
      Await.until("the checkpoint has passed it", () -> remembered() == 0);
      assertThat(process.lanes()).isEqualTo(1);
    }
  }

  private long remembered() {
    return outbox.number("select count(*) from fencepost.parked_gone");
  }

  /** The first row has no answer, the second is parked. */
  private RelayProcess parkedBehindOneThatIsOut() {
    broker.owes = row -> "a".equals(row.key());
    broker.refuses =
        row ->
            row.route().exchange().equals("old") && "b".equals(row.key())
                ? ParkedReason.REJECTED
                : null;
    outbox.insert("old", "q", "a", "first");
    outbox.insert("old", "q", "b", "second");
    RelayProcess process = process(relay);
    Await.until("the second is parked", () -> outbox.parked() == 1);
    return process;
  }

  private void goneAndKilled(RelayProcess process) {
    Await.until("it is gone", () -> outbox.parked() == 0);
    process.kill();
  }

  /** By another process, of a broker that takes everything. */
  private List<String> arrivedAnew() {
    return arrivedAnew(relay);
  }

  private List<String> arrivedAnew(FencepostConfig.Relay settings) {
    broker.arrived.clear();
    broker.owes = row -> false;
    broker.refuses = row -> null;
    outbox.insert("old", "q", "c", "last");
    try (RelayProcess process = process(settings)) {
      Await.until("both", () -> bodies().containsAll(List.of("first", "last")));
      assertThat(process.lanes()).isEqualTo(settings.lanes());
    }
    return bodies();
  }

  private List<String> bodies() {
    return broker.rows().stream()
        .map(row -> new String(row.message().body(), StandardCharsets.UTF_8))
        .toList();
  }

  private RelayProcess process(FencepostConfig.Relay settings) {
    return new RelayProcess(
        RelayConfigs.database(outbox.uri()), settings, vertx -> new FakePublisher(vertx, broker));
  }
}
