package dev.fencepost.worker;

import static dev.fencepost.testing.Await.failure;
import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What a store promises of effects and of order by key. */
public abstract class EffectContract extends RecoveryContract {
  @Test
  protected void effectsAreDoneWhenTheirTransactionCommits() {
    Claim.Request plain = request(ActivityKind.EFFECT);
    Claim.Request referenced = request(ActivityKind.EFFECT);
    Claim.Request failing = request(ActivityKind.EFFECT);
    Claim.Request done = request(ActivityKind.EFFECT);
    complete(start(done));
    ActivityStore.EffectGroup group =
        result(store().beginEffects(ME, HARD, List.of(plain, done, referenced, failing)));
    assertThat(group.answers().get(1)).isEqualTo(new Claim.Duplicate(ActivityState.COMPLETED));
    assertThat(((Claim.Started) group.answers().get(2)).ticket().id()).isEqualTo(referenced.id());
    assertThat(seen(plain.id())).isNull();
    result(
        group.commit(
            List.of(
                Receipt.succeeded(), Receipt.succeeded("ref"), Receipt.failedPermanently("no"))));
    assertThat(seen(plain.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(plain.id()).attempts()).isEqualTo(1);
    assertThat(seen(referenced.id()).receipt()).isEqualTo(ReceiptOutcome.SUCCEEDED);
    assertThat(seen(referenced.id()).outcomes()).containsExactly(AttemptOutcome.SUCCEEDED);
    assertThat(seen(failing.id()).state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen(failing.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.PERMANENT_FAILURE, 1, text(failing.envelope())));
  }

  @Test
  protected void effectsThatRolledBackWereNeverStarted() {
    Claim.Request request = request(ActivityKind.EFFECT);
    result(result(store().beginEffects(ME, HARD, List.of(request))).rollback());
    assertThat(seen(request.id())).isNull();
    result(result(store().beginEffects(ME, HARD, List.of(request))).abandon());
    assertThat(start(request).attempt()).isEqualTo(1);
  }

  @Test
  protected void anEffectThatFailedWithItsGroupIsDeadLikeOneThatWasClaimed() {
    Claim.Request good = request(ActivityKind.EFFECT);
    Claim.Request bad = request(ActivityKind.EFFECT);
    Claim.Request gone = request(ActivityKind.EFFECT);
    Claim.Request said = request(ActivityKind.EFFECT);
    Claim.Request claimed = request(ActivityKind.EFFECT);
    List<ActivityStore.FailedEffect> failed =
        List.of(new ActivityStore.FailedEffect(bad.id(), ERROR));
    List<Claim.Request> all = List.of(bad, gone, good, said);
    ActivityStore.EffectGroup undone = result(store().beginEffects(ME, HARD, all));
    result(undone.fail(failed));
    result(undone.rollback());
    assertThat(seen(bad.id())).isNull();
    ActivityStore.EffectGroup group = result(store().beginEffects(ME, HARD, all));
    result(group.withdraw(List.of(gone.id())));
    result(group.fail(failed));
    assertThat(seen(bad.id())).isNull();
    result(group.commit(List.of(Receipt.succeeded("ref"), Receipt.failedPermanently("no"))));
    settle(ME, start(claimed), new Settlement.Dead(permanent(), failed(), ERROR));
    Seen dead = seen(claimed.id());
    assertThat(seen(bad.id()))
        .usingRecursiveComparison()
        .ignoringFields("deadLetters")
        .isEqualTo(dead);
    assertThat(seen(bad.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.PERMANENT_FAILURE, 1, text(bad.envelope())));
    assertThat(seen(good.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(said.id()).receipt()).isEqualTo(ReceiptOutcome.FAILED_PERMANENT);
    assertThat(start(gone).attempt()).isEqualTo(1);
    assertThat(claim(bad)).isEqualTo(new Claim.Duplicate(ActivityState.DEAD));
  }

  @Test
  protected void aClaimedEffectIsDoneUnderItsFence() {
    Claim.Request request = request(ActivityKind.EFFECT);
    Claim.Ticket ticket = start(request);
    result(result(store().beginEffect(ME, HARD, ticket, request.envelope())).rollback());
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.RUNNING);
    ActivityStore.EffectGroup group =
        result(store().beginEffect(ME, HARD, ticket, request.envelope()));
    assertThat(group.answers()).containsExactly(new Claim.Started(ticket));
    result(group.commit(List.of(Receipt.succeeded("ref"))));
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(request.id()).attempts()).isEqualTo(1);
  }

  @Test
  protected void aClaimedEffectThatWasTakenOverDoesNotBegin() {
    Claim.Request request = request(ActivityKind.EFFECT);
    Claim.Ticket ticket = start(request);
    elapse(TTL);
    recover(OTHER, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    Throwable failure = failure(store().beginEffect(ME, HARD, ticket, request.envelope()));
    assertThat(FencepostException.is(failure, FailureKind.LEASE_LOST)).isTrue();
    assertThat(seen(request.id()).audit()).endsWith("lease_lost");
  }

  @Test
  protected void aClaimedEffectWithAFailedReceiptKeepsItsMessage() {
    Claim.Request request = request(ActivityKind.EFFECT);
    Claim.Ticket ticket = start(request);
    ActivityStore.EffectGroup group =
        result(store().beginEffect(ME, HARD, ticket, request.envelope()));
    result(group.commit(List.of(Receipt.failedPermanently("no"))));
    assertThat(seen(request.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.PERMANENT_FAILURE, 1, text(request.envelope())));
  }

  @Test
  protected void eventsOfAKeyWaitBehindTheOneThatWaitsAndComeInOrder() {
    Claim.Request first = keyed("k");
    Claim.Request second = keyed("k");
    Claim.Request third = keyed("k");
    Claim.Request other = keyed("another");
    settle(ME, start(first), again(failedTransiently(), Duration.ofSeconds(10), true));
    assertThat(claim(second)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertThat(claim(third)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertThat(claim(other)).isInstanceOf(Claim.Started.class);
    assertThat(due(ME)).isEmpty();
    elapse(Duration.ofSeconds(10));
    for (Claim.Request next : List.of(first, second, third)) {
      List<Claim.Due> due = due(ME);
      assertThat(due).extracting(d -> d.ticket().id()).containsExactly(next.id());
      assertThat(due.get(0).key()).isEqualTo("k");
      assertThat(due(OTHER)).as("one at a time").isEmpty();
      complete(due.get(0).ticket());
    }
    assertThat(claim(keyed("k"))).isInstanceOf(Claim.Started.class);
  }

  @Test
  protected void aRunningEventBlocksItsKey() {
    Claim.Request first = keyed("k");
    Claim.Request second = keyed("k");
    Claim.Ticket running = start(first);
    assertThat(claim(second)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    settle(ME, running, new Settlement.Dead(permanent(), failed(), ERROR));
    assertThat(due(ME)).extracting(d -> d.ticket().id()).containsExactly(second.id());
  }

  @Test
  protected void whoeverStartsWhatIsDueIsToldOfWhatAnEndHasReleased() {
    List<String> told = new CopyOnWriteArrayList<>();
    store().onReleased(told::add);
    complete(start(keyed("k")));
    assertThat(told).as("nothing waited").isEmpty();
    Claim.Ticket first = start(keyed("k"));
    Claim.Request second = keyed("k");
    claim(second);
    complete(first);
    assertThat(told).containsExactly(consumer);
    assertThat(due(ME)).extracting(d -> d.ticket().id()).containsExactly(second.id());
  }

  @Test
  protected void anEndReleasesWhatIsDueAndHasWaitedBehindIt() {
    Claim.Ticket first = start(keyed("k"));
    Claim.Request second = keyed("k");
    String type = second.work().type();
    result(store().storeUnresolved(second.id(), type, "k", second.envelope()));
    result(store().resolveTypes(consumer, List.of(type), Duration.ofDays(1), 100));
    assertThat(seen(second.id()).state()).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(due(ME)).as("behind the first").isEmpty();
    List<String> told = new CopyOnWriteArrayList<>();
    store().onReleased(told::add);
    complete(first);
    assertThat(told).containsExactly(consumer);
    assertThat(due(ME)).extracting(d -> d.ticket().id()).containsExactly(second.id());
  }

  @Test
  protected void effectsOfAKeyWaitToo() {
    Claim.Request first = keyed("k");
    Claim.Request second = keyed("k");
    Claim.Request free = keyed("free");
    settle(ME, start(first), new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR));
    ActivityStore.EffectGroup group = result(store().beginEffects(ME, HARD, List.of(second, free)));
    assertThat(group.answers().get(0)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertThat(group.answers().get(1)).isInstanceOf(Claim.Started.class);
    result(group.commit(List.of(Receipt.succeeded())));
    assertThat(seen(second.id()).state()).isEqualTo(ActivityState.BLOCKED);
  }

  @Test
  protected void aCommitThatHadNoAnswerIsKnownAgainAndNoLostLease() {
    for (Receipt receipt : List.of(Receipt.succeeded("ref"), Receipt.failedPermanently("no"))) {
      Claim.Request request = request(ActivityKind.EFFECT);
      Claim.Ticket ticket = start(request);
      result(
          result(store().beginEffect(ME, HARD, ticket, request.envelope()))
              .commit(List.of(receipt)));
      Seen before = seen(request.id());
      ActivityStore.EffectGroup again =
          result(store().beginEffect(ME, HARD, ticket, request.envelope()));
      assertThat(again.answers()).containsExactly(new Claim.Duplicate(before.state()));
      result(again.commit(List.of()));
      assertThat(seen(request.id())).isEqualTo(before);
      assertThat(before.audit()).doesNotContain("lease_lost");
      Throwable others = failure(store().beginEffect(OTHER, HARD, ticket, request.envelope()));
      assertThat(FencepostException.is(others, FailureKind.LEASE_LOST)).isTrue();
    }
  }

  @Test
  protected void whatIsDeferredIsDueWithItsMessageAndHasNotBeenStarted() {
    Claim.Request request = request();
    Claim.Request done = request();
    complete(start(done));
    Claim.Request held = request();
    start(held, OTHER);
    Claim.Request seenBefore = redelivered(request());
    List<Claim.Request> group = List.of(request, done, held, seenBefore);
    List<Claim.Answer> answers = result(store().defer(group));
    assertThat(answers.get(0)).isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED));
    assertThat(answers.get(1)).isEqualTo(new Claim.Duplicate(ActivityState.COMPLETED));
    assertThat(answers.get(2)).isInstanceOf(Claim.Held.class);
    assertThat(answers.get(3)).isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED));
    assertThat(result(store().defer(List.of(request))))
        .containsExactly(new Claim.Waiting(ActivityState.RETRY_SCHEDULED, 0));
    assertThat(claim(request))
        .as("it waits already")
        .isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED, 0));
    assertThat(seen(request.id()).attempts()).isZero();
    assertThat(seen(request.id()).retries()).isZero();
    assertThat(seen(request.id()).audit()).isEmpty();
    assertThat(seen(seenBefore.id()).redeliveries()).isEqualTo(1);
    List<Claim.Due> due = due(ME);
    assertThat(due).hasSize(2);
    for (Claim.Due each : due) {
      assertThat(each.ticket().first()).isTrue();
      assertThat(each.ticket().attempt()).isEqualTo(1);
      if (each.ticket().id().equals(request.id())) {
        assertSameMessage(each.envelope(), request.envelope());
      }
      complete(each.ticket());
    }
    assertThat(claim(request)).isEqualTo(new Claim.Duplicate(ActivityState.COMPLETED));
  }

  @Test
  protected void whatIsDeferredKeepsItsPlaceInItsKey() {
    Claim.Request first = keyed("k");
    Claim.Request second = keyed("k");
    Claim.Request third = keyed("k");
    assertThat(result(store().defer(List.of(first, second))))
        .containsExactly(
            new Claim.Waiting(ActivityState.RETRY_SCHEDULED),
            new Claim.Waiting(ActivityState.BLOCKED));
    assertThat(claim(third)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    for (Claim.Request next : List.of(first, second, third)) {
      List<Claim.Due> due = due(ME);
      assertThat(due).extracting(d -> d.ticket().id()).containsExactly(next.id());
      assertThat(due(OTHER)).as("one at a time").isEmpty();
      complete(due.get(0).ticket());
    }
  }

  @Test
  protected void firstStartsHaveRoomBesideTheRetriesThatTheBudgetAllows() {
    for (int i = 0; i < 3; i++) {
      settle(ME, start(request()), again(failedTransiently(), Duration.ZERO, true));
    }
    result(store().defer(List.of(request(), request(), request())));
    assertThat(attempts(0, 2)).as("no retry, two of those that have not started").isEqualTo("11");
    assertThat(attempts(1, 5)).as("one retry, and the rest of the others").isEqualTo("12");
    assertThat(attempts(5, 0)).isEqualTo("22");
  }

  private String attempts(int free, int first) {
    ActivityStore.Slots slots = new ActivityStore.Slots(work(ActivityKind.IDEMPOTENT), free, first);
    return result(store().claimDue(ME, consumer, Map.of("t", slots))).stream()
        .map(due -> String.valueOf(due.ticket().attempt()))
        .sorted()
        .collect(Collectors.joining());
  }
}
