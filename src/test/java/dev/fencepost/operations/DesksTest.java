package dev.fencepost.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.ParkedRequest.Action;
import dev.fencepost.operations.ParkedRequest.By;
import dev.fencepost.operations.ParkedRequest.Row;
import dev.fencepost.operations.ParkedRequest.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DesksTest {
  private final FakeStores stores = new FakeStores();
  private final Operations operations = stores.operations();

  @Test
  void reviewsListOnlyWhatIsInReview() {
    stores.activity("mail", "e-1", ActivityState.MANUAL_REVIEW, 2);
    stores.activity("mail", "e-2", ActivityState.COMPLETED, 1);

    Page<ViewRow> page = operations.reviews().list(null, null, Page.Request.first(10)).result();

    assertThat(page.items()).extracting(r -> r.text("event_id")).containsExactly("e-1");
  }

  @Test
  void aDecisionNeedsOperatorAndEvidence() {
    assertThatThrownBy(() -> ReviewRequest.of("mail", "e-1", "done", "anna", "log", null))
        .hasMessage("as: \"done\" is not allowed; use one of succeeded, failed, retry");
    assertThatThrownBy(() -> ReviewRequest.of("mail", "e-1", "retry", "", "log", null))
        .hasMessageContaining("operator");
    assertThatThrownBy(() -> ReviewRequest.of("mail", "e-1", "retry", "anna", "  ", null))
        .hasMessageContaining("evidence");
  }

  @Test
  void aDecisionOnAnOldFenceIsStale() {
    stores.activity("mail", "e-1", ActivityState.MANUAL_REVIEW, 2);

    Throwable cause =
        operations
            .reviews()
            .resolve(ReviewRequest.of("mail", "e-1", "succeeded", "anna", "bank says so", 1L))
            .cause();

    assertThat(FencepostException.is(cause, FailureKind.STALE)).isTrue();
    assertThat(stores.reviewed).isEmpty();
  }

  @Test
  void historyIsInOrderOfTime() {
    stores.activity("mail", "e-1", ActivityState.MANUAL_REVIEW, 2);

    ActivityHistory history = operations.activities().show("mail", "e-1").result();

    assertThat(history.timeline())
        .extracting(ActivityHistory.Moment::what)
        .containsExactly("first seen", "attempt started", "attempt unknown", "manual_review");
    assertThat(history.toJson().getString("state")).isEqualTo("manual_review");
    assertThat(history.toJson().getJsonArray("timeline")).hasSize(4);
    Throwable none = operations.activities().show("mail", "nobody").cause();
    assertThat(FencepostException.is(none, FailureKind.NOT_FOUND)).isTrue();
  }

  @Test
  void statusSaysWhichCountsStoppedEarly() {
    BoundedCount none = new BoundedCount(0, false);
    stores.queues.add(
        new Status.QueueStatus(
            "mail",
            new Status.QueueStatus.Waiting(new BoundedCount(3, false), none, none, none),
            new Status.QueueStatus.Ended(none, none, BoundedCount.ofFound(10_001)),
            Duration.ofMillis(1_500)));

    var queue =
        operations.status().status().result().toJson().getJsonArray("queues").getJsonObject(0);

    assertThat(queue.getLong("in_flight")).isEqualTo(3);
    assertThat(queue.getDouble("oldest_expired_lease_age_seconds")).isEqualTo(1.5);
    assertThat(queue.getLong("dead_letters")).isEqualTo(10_000);
    assertThat(queue.getJsonArray("at_least").getList()).isEqualTo(List.of("dead_letters"));
    assertThat(BoundedCount.ofFound(10_001)).hasToString("10000+");
  }

  @Test
  void aKeyNamesTheRowThatHoldsTheOthersUp() {
    stores.parked(7, "order-1", "missing", "exchange_missing");
    stores.parked(8, "order-1", "missing", "behind_key");
    stores.parked(9, "order-1", "orders", "behind_key");
    stores.parked(10, null, "missing", "exchange_missing");

    ask(Action.RETRY, "order-1", false, null);
    ask(Action.SKIP, "order-1", false, null);
    ask(Action.SKIP, "order-1", true, null);
    ask(Action.REDIRECT, "order-1", false, new Target("orders", null));
    ask(Action.SKIP, "10", false, null);

    assertThat(stores.requested)
        .containsExactly(
            "RETRY [7] anna ",
            "SKIP [7] anna ",
            "SKIP [7, 8, 9] anna ",
            "REDIRECT [7, 8] anna orders",
            "SKIP [10] anna ");
  }

  @Test
  void nothingParkedIsSaid() {
    Throwable cause =
        operations
            .outbox()
            .request(
                new ParkedRequest(
                    Action.SKIP,
                    new Row("order-9", By.KEY_OR_SEQ, false),
                    new Who("anna", null),
                    null))
            .cause();

    assertThat(cause).hasMessage("nothing is parked under the key or seq order-9");
    assertThatThrownBy(
            () ->
                new ParkedRequest(
                    Action.REDIRECT, new Row("k", By.KEY, false), new Who("anna", null), null))
        .hasMessageContaining("exchange");
  }

  private void ask(Action action, String which, boolean all, Target to) {
    assertThat(
            operations
                .outbox()
                .request(
                    new ParkedRequest(
                        action, new Row(which, By.KEY_OR_SEQ, all), new Who("anna", null), to))
                .result()
                .ok())
        .isTrue();
  }

  @Test
  void replayEndsAtItsOwnStartAndKeepsTheRate() {
    stores.replayable = 2500;
    Instant since = FakeStores.NOW.minusSeconds(3600);
    List<Long> progress = new ArrayList<>();

    ReplayResult fast =
        operations
            .outbox()
            .replay(
                new ReplayRequest(since, null, null, null, false, 0),
                new Who("anna", "mail was down"),
                progress::add)
            .result();
    ReplayResult slow =
        operations
            .outbox()
            .replay(
                new ReplayRequest(since, null, null, null, false, 500),
                new Who("anna", null),
                Progress.NONE)
            .result();

    operations
        .outbox()
        .replay(
            new ReplayRequest(since, null, null, null, true, 0),
            new Who("anna", null),
            Progress.NONE);

    assertThat(stores.replays)
        .as("start and end of each, and nothing of a dry run")
        .containsExactly(
            "anna mail was down null",
            "anna mail was down 2500",
            "anna null null",
            "anna null 2500");
    assertThat(fast.rows()).isEqualTo(2500);
    assertThat(fast.until()).isEqualTo(FakeStores.NOW);
    assertThat(progress).containsExactly(1000L, 2000L, 2500L);
    assertThat(slow.rows()).isEqualTo(2500);
    assertThat(stores.pauses).hasSize(4).allMatch(Duration.ofSeconds(1)::equals);
  }
}
