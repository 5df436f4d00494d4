package dev.fencepost.worker;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.RecoveryDecision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What every store of activities promises, whatever holds it: here what lies beside an event's way,
 * above it the rest.
 */
public abstract class ActivityStoreContract extends FenceContract {
  @Test
  protected void poisonIsADeadLetterOnce() {
    ActivityId id = new ActivityId(consumer, "digest-1");
    Delivery.Envelope broken =
        new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {(byte) 0xff}, "not UTF-8");
    assertThat(result(store().poison(id, null, broken, ERROR))).isTrue();
    assertThat(result(store().poison(id, null, broken, ERROR))).isFalse();
    assertThat(told()).as("the answer says so").isEmpty();
    Seen seen = seen(id);
    assertThat(seen.state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen.deadLetters()).hasSize(1);
    assertThat(seen.deadLetters().get(0).reason()).isEqualTo(DeadLetterReason.POISON_MESSAGE);
    assertThat(seen.deadLetters().get(0).attempts()).isEqualTo(1);
  }

  @Test
  protected void poisonUnderTheIdOfAnEventChangesNothing() {
    Claim.Ticket ticket = start(request());
    String before = stored(ticket.id());
    assertThat(result(store().poison(ticket.id(), null, request().envelope(), ERROR))).isFalse();
    assertThat(stored(ticket.id())).isEqualTo(before);
    assertThat(complete(ticket)).isTrue();
  }

  @Test
  protected void anUnknownTypeRunsOnceItIsKnown() {
    Claim.Request request = request();
    result(store().storeUnresolved(request.id(), "t", null, request.envelope()));
    result(store().storeUnresolved(request.id(), "t", null, request.envelope()));
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.UNRESOLVED);
    assertThat(due(ME)).isEmpty();
    assertThat(result(store().resolveTypes(consumer, List.of("u"), Duration.ofHours(24), 100)))
        .isZero();
    assertThat(result(store().resolveTypes(consumer, List.of("t"), Duration.ofHours(24), 100)))
        .isEqualTo(1);
    Claim.Due due = due(ME).get(0);
    assertThat(due.ticket().first()).isTrue();
    assertSameMessage(due.envelope(), request.envelope());
  }

  @Test
  protected void anUnknownTypeIsPoisonAfterItsTime() {
    Claim.Request request = request();
    result(store().storeUnresolved(request.id(), "t", null, request.envelope()));
    elapse(Duration.ofHours(25));
    result(store().resolveTypes(consumer, List.of("u"), Duration.ofHours(24), 100));
    assertThat(seen(request.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.POISON_MESSAGE, 1, text(request.envelope())));
    result(store().resolveTypes(consumer, List.of("u"), Duration.ofHours(24), 100));
    assertThat(told())
        .containsExactly(
            new DeadLettered(
                request.id(),
                "t",
                DeadLetterReason.POISON_MESSAGE,
                1,
                new ErrorInfo("unknown_type", "no worker knows the type t", null)));
  }

  @Test
  protected void aDeadLetterIsGivenForItsCopyUntilItHasOneWhoeverWroteIt() {
    Claim.Ticket byItsRun = start(request());
    settle(ME, byItsRun, new Settlement.Dead(permanent(), failed(), ERROR));
    Claim.Request byTheSweep = request();
    start(byTheSweep, OTHER);
    elapse(TTL);
    assertThat(told()).as("what a settlement asks for is in its answer").isEmpty();
    recover(ME, RecoveryDecision.EXHAUSTED, byTheSweep);
    assertThat(told()).extracting(DeadLettered::id).containsExactly(byTheSweep.id());
    Claim.Request byItsTime = request();
    result(store().storeUnresolved(byItsTime.id(), "u", null, byItsTime.envelope()));
    elapse(Duration.ofSeconds(1));
    result(store().resolveTypes(consumer, List.of("t"), Duration.ZERO, 100));
    List<ActivityStore.Uncopied> given = uncopied();
    assertThat(given)
        .extracting(ActivityStore.Uncopied::event)
        .containsExactlyInAnyOrder(byItsRun.id(), byTheSweep.id(), byItsTime.id());
    for (ActivityStore.Uncopied each : given) {
      if (each.event().equals(byTheSweep.id())) {
        assertSameMessage(each.envelope(), byTheSweep.envelope());
        assertThat(each.reason()).isEqualTo(DeadLetterReason.RETRIES_EXHAUSTED);
      }
    }
    assertThat(uncopied()).as("somebody has them").isEmpty();
    result(store().copied(List.of(given.get(0).id())));
    elapse(Duration.ofSeconds(31));
    assertThat(uncopied()).as("those that were not copied").hasSize(2);
    elapse(Duration.ofHours(25));
    assertThat(uncopied()).as("given up").isEmpty();
  }

  private List<ActivityStore.Uncopied> uncopied() {
    return result(store().uncopied(consumer, Duration.ofSeconds(30), Duration.ofHours(24), 100));
  }

  @Test
  protected void aRetryIsDueOrNot() {
    Claim.Ticket ticket = start(request());
    assertThat(result(store().hasDue(consumer, "t"))).isFalse();
    settle(ME, ticket, new Settlement.Interrupted());
    assertThat(result(store().hasDue(consumer, "t"))).isTrue();
    assertThat(result(store().hasDue(consumer, "u"))).isFalse();
  }

  @Test
  protected void startsOfTheWindowAreSummedOverTheFleet() {
    assertCounted("t", 10, 1, 10, 1);
    assertCounted("t", 5, 2, 15, 3);
    assertCounted("u", 1, 0, 1, 0);
    elapse(Duration.ofSeconds(30));
    assertCounted("t", 0, 0, 0, 0);
  }

  /** Counted when they are told, those of a long time would count as if they came at once. */
  @Test
  protected void firstStartsCountInTheSecondInWhichTheyBegan() {
    long[] first = {1, 0, 2, 0, 0, 0, 0, 5};
    assertCounted("t", first, 0, 8, 0);
    assertCounted("t", first, 3, 16, 3);
    elapse(Duration.ofSeconds(4));
    assertCounted("t", 0, 0, 6, 3);
    long[] longAgo = new long[60];
    longAgo[59] = 7;
    assertCounted("u", longAgo, 0, 0, 0);
  }

  private void assertCounted(String type, long first, long retries, long firsts, long all) {
    assertCounted(type, new long[] {first}, retries, firsts, all);
  }

  private void assertCounted(String type, long[] first, long retries, long firsts, long all) {
    ActivityStore.BudgetCounts sums = result(store().countStarts(consumer, type, first, retries));
    assertThat(List.of(sums.firstStarts(), sums.retries())).isEqualTo(List.of(firsts, all));
  }

  /** Given back into a later second, they would hide as many real ones once their own is over. */
  @Test
  protected void whatIsGivenBackIsTakenFromTheSecondInWhichItWasReserved() {
    long reserved = result(store().countStarts(consumer, "t", new long[] {0}, 100)).second();
    Duration later = Duration.ofSeconds(7);
    elapse(later);
    assertCounted("t", 0, 5, 0, 105);
    result(store().uncountRetries(consumer, "t", nowCalled(reserved, later), 100));
    assertCounted("t", 0, 0, 0, 5);
    elapse(Duration.ofSeconds(5));
    assertCounted("t", 0, 0, 0, 5);
  }

  /** What a second of the budget's window is called after time has been made to pass. */
  protected long nowCalled(long second, Duration passed) {
    return second;
  }

  @Test
  protected void onlyPlainlyCompletedWorkIsPurged() {
    Claim.Ticket plain = start(request());
    complete(plain);
    Claim.Ticket irreversible = start(request(ActivityKind.IRREVERSIBLE));
    complete(irreversible);
    Claim.Ticket dead = start(request());
    settle(ME, dead, new Settlement.Dead(permanent(), failed(), ERROR));
    Claim.Request taken = request();
    start(taken, OTHER);
    elapse(TTL);
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, taken);
    complete(suspect(ME).ticket());
    Claim.Ticket running = start(request());
    assertThat(result(store().purge(consumer, Duration.ofDays(7), 100))).isZero();
    elapse(Duration.ofDays(8));
    assertThat(result(store().purge(consumer, Duration.ofDays(7), 100))).isEqualTo(1);
    assertThat(seen(plain.id())).isNull();
    for (ActivityId stays : List.of(irreversible.id(), dead.id(), taken.id(), running.id())) {
      assertThat(seen(stays)).isNotNull();
    }
  }

  @Test
  protected void aStallLeavesALine() {
    Claim.Ticket ticket = start(request());
    result(store().recordStall(ticket, Duration.ofSeconds(11)));
    assertThat(seen(ticket.id()).audit()).containsExactly("stalled");
  }
}
