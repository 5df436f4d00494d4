package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.ProbeResult;
import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.model.RunEvent;
import dev.fencepost.model.RunFailure;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Leases, limits, takeovers: with another worker, "other", that has died. */
class RecoveryLoopTest {
  private static final Bench.Times SHORT =
      new Bench.Times(Duration.ofSeconds(30), Duration.ofSeconds(2), Duration.ofSeconds(4), null);
  private final Bench bench = new Bench();

  /** A start of another process that is gone. */
  private void diedElsewhere(String type, ActivityKind kind, String id, boolean body) {
    Claim.Work work = new Claim.Work(type, kind, 3, 2, Duration.ofSeconds(30));
    bench.store.claim(
        "other",
        List.of(
            new Claim.Request(
                new ActivityId(Bench.QUEUE, id), work, null, false, Bench.message(type, id))));
    if (body) {
      bench.store.keepBody(new ActivityId(Bench.QUEUE, id), Bench.message(type, id));
    }
  }

  @Test
  void aRedeliveryOfARunningActivityKeepsItsBodyAndIsRunAfterTheLease() {
    bench.type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start();
    diedElsewhere("t", ActivityKind.IDEMPOTENT, "e1", false);
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.time.settle();
    assertThat(bench.broker.acked).as("a long wait does not hold the message").hasSize(1);
    bench.advance(29_000);
    assertThat(bench.ran).isEmpty();
    bench.advance(10_000);
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.row("e1").attempts).isEqualTo(2);
    assertThat(bench.events.decisions).containsExactly(RecoveryDecision.RETRY_SAME_ACTIVITY);
  }

  @Test
  void forAShortRemainderTheMessageStaysUnacknowledged() {
    bench.type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start();
    diedElsewhere("t", ActivityKind.IDEMPOTENT, "e1", false);
    bench.time.sleepThrough(Duration.ofSeconds(28));
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.time.settle();
    assertThat(bench.broker.acked).isEmpty();
    bench.advance(5_000);
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void irreversibleWorkIsNeverRunAgainByALoop() {
    bench.type("t", ActivityKind.IRREVERSIBLE, c -> Bench.done()).start();
    diedElsewhere("t", ActivityKind.IRREVERSIBLE, "e1", false);
    bench.advance(40_000);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.advance(3_600_000);
    assertThat(bench.ran).isEmpty();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(bench.row("e1").body).as("taken when it arrived").isNotNull();
    assertThat(bench.broker.acked).hasSize(1);
  }

  @Test
  void aRowWithoutABodyWaitsForItsMessage() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    diedElsewhere("t", ActivityKind.PURE, "e1", false);
    bench.advance(40_000);
    assertThat(bench.row("e1").awaiting).isTrue();
    assertThat(bench.ran).isEmpty();
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.advance(2_000);
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.broker.acked).hasSize(1);
  }

  private static ActivityHandler queryable(Bench bench, ProbeResult answer) {
    return new ActivityHandler() {
      @Override
      public Future<Receipt> run(ActivityContext context) {
        bench.ran.add(context.eventId());
        return Bench.done();
      }

      @Override
      public Future<ProbeResult> probe(ActivityContext context) {
        return Future.succeededFuture(answer);
      }
    };
  }

  private void probed(ProbeResult answer) {
    bench
        .type(
            "t",
            ActivityKind.QUERYABLE,
            4,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(queryable(bench, answer)))
        .start();
    diedElsewhere("t", ActivityKind.QUERYABLE, "e1", true);
    bench.advance(40_000);
  }

  @Test
  void aProbeThatFoundItDoneRecordsTheCompletion() {
    probed(ProbeResult.succeeded("ref-7"));
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.ran).isEmpty();
    assertThat(bench.store.attempts).hasSize(1);
    assertThat(bench.events.decisions).containsExactly(RecoveryDecision.RECORD_COMPLETION);
  }

  @Test
  void aProbeThatFoundNothingMakesItSafeToRunAgain() {
    probed(ProbeResult.neverHappened());
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e1").attempts).isEqualTo(2);
  }

  @Test
  void aProbeThatDoesNotKnowLeadsToReview() {
    probed(ProbeResult.unknown("no idea"));
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(bench.ran).isEmpty();
  }

  @Test
  void aLeaseIsRenewedWhileItsHandlerRunsAndNoLongerThanTheHardLimit() {
    Promise<Receipt> never = Promise.promise();
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            4,
            new Bench.Times(
                Duration.ofSeconds(3), Duration.ofSeconds(8), Duration.ofSeconds(10), null),
            new BoundHandler.Async(bench.recording(c -> never.future())))
        .start()
        .deliver("t", "e1");
    bench.advance(9_000);
    assertThat(bench.row("e1").fence).as("nobody took it over").isEqualTo(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RUNNING);
    bench.advance(1_200);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.row("e1").retries).as("a timeout uses up no retry").isZero();
    assertThat(bench.row("e1").fence).as("raised").isEqualTo(2);
    assertThat(bench.events.leaked).isEqualTo(1);
    long renewals = bench.store.count("renew");
    bench.advance(4_000);
    assertThat(bench.store.count("renew")).isEqualTo(renewals);
    assertThat(bench.ran).as("waits for the backoff").hasSize(1);
    bench.advance(2_000);
    assertThat(bench.ran).hasSize(2);
    never.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.events.leaked).isZero();
    assertThat(bench.store.audit).contains("late e1 fence=1");
    assertThat(bench.row("e1").state)
        .as("the second run ended well")
        .isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void atTheHardLimitIrreversibleWorkGoesToReviewAndALateResultIsKeptAsEvidence() {
    Promise<Receipt> late = Promise.promise();
    AtomicReference<ActivityContext> context = new AtomicReference<>();
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            4,
            SHORT,
            new BoundHandler.Async(
                c -> {
                  context.set(c);
                  return late.future();
                }))
        .start()
        .deliver("t", "e1");
    bench.advance(2_100);
    assertThat(context.get().softLimit().isComplete()).isTrue();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RUNNING);
    bench.advance(2_000);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(context.get().recordReceipt(Receipt.succeeded()).failed()).isTrue();
    late.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(bench.store.audit).contains("late e1 fence=1");
  }

  /** The two limits are one: the handler's own clock may strike a little later. */
  @Test
  void thatThereWasNoAnswerIsNotSaidTwice() {
    Promise<Receipt> call = Promise.promise();
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            4,
            SHORT,
            new BoundHandler.Async(bench.recording(c -> call.future())))
        .start()
        .deliver("t", "e1");
    bench.advance(4_100);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    call.fail(new RunFailure(RunEvent.NO_ANSWER_BY_HARD_LIMIT, "no answer", null, null));
    bench.time.settle();
    assertThat(bench.events.leaked).isZero();
    assertThat(bench.store.audit).doesNotContain("late e1 fence=1");
  }

  /** Stored, but the answer comes after the hard limit: logs and metrics say what was decided. */
  @Test
  void aReceiptOnItsWayAtTheHardLimitDecidesWhatIsTold() {
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            4,
            SHORT,
            new BoundHandler.Async(
                c -> {
                  bench.store.delayAnswersOf("recordReceipt");
                  c.recordReceipt(Receipt.succeeded("ref"));
                  return Promise.<Receipt>promise().future();
                }))
        .start()
        .deliver("t", "e1");
    bench.advance(4_100);
    bench.store.releaseAnswers();
    bench.time.settle();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.events.count(WorkerEvents.Outcome.MANUAL_REVIEW)).isZero();
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(1);
  }

  @Test
  void aLeakedSlotIsNotGivenAway() {
    bench
        .type(
            "t",
            ActivityKind.PURE,
            2,
            SHORT,
            new BoundHandler.Async(bench.recording(c -> Promise.<Receipt>promise().future())))
        .start()
        .deliver("t", "e1", "e2", "e3");
    bench.advance(4_100);
    assertThat(bench.events.leaked).isEqualTo(2);
    bench.advance(60_000);
    assertThat(bench.ran).as("both slots are gone").containsExactly("e1", "e2");
  }

  @Test
  void aQueryableRunWithoutAnswerIsProbedOnlyWhenNoCallCanBeInTheAir() {
    Promise<Receipt> never = Promise.promise();
    bench
        .type(
            "t",
            ActivityKind.QUERYABLE,
            4,
            SHORT,
            new BoundHandler.Async(
                new ActivityHandler() {
                  @Override
                  public Future<Receipt> run(ActivityContext context) {
                    bench.ran.add(context.eventId());
                    return context.attempt() == 1 ? never.future() : Bench.done();
                  }

                  @Override
                  public Future<ProbeResult> probe(ActivityContext context) {
                    return Future.succeededFuture(ProbeResult.neverHappened());
                  }
                }))
        .start()
        .deliver("t", "e1");
    bench.advance(60_000);
    assertThat(bench.ran).as("its slot is leaked: the call may still arrive").hasSize(1);
    assertThat(bench.broker.acked).as("its message is kept in the row").hasSize(1);
    never.tryFail("gone");
    bench.advance(12_000);
    assertThat(bench.ran).hasSize(2);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void aQueryableRunThatEndedInTheUnknownIsProbedByItsOwnProcessToo() {
    AtomicInteger probes = new AtomicInteger();
    bench
        .type(
            "t",
            ActivityKind.QUERYABLE,
            4,
            SHORT,
            new BoundHandler.Async(
                new ActivityHandler() {
                  @Override
                  public Future<Receipt> run(ActivityContext context) {
                    bench.ran.add(context.eventId());
                    return Future.failedFuture(new IllegalStateException("who knows"));
                  }

                  @Override
                  public Future<ProbeResult> probe(ActivityContext context) {
                    probes.incrementAndGet();
                    return Future.succeededFuture(ProbeResult.succeeded("ref-7"));
                  }
                }))
        .start()
        .deliver("t", "e1");
    bench.advance(30_000);
    assertThat(bench.ran).as("it has happened: never again").containsExactly("e1");
    assertThat(probes).hasValue(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
  }

  /** When an activity whose probes say that it never happened has been run. */
  private List<Long> startsOfNeverHappened(Bench.Times times, Throwable failure, int failures) {
    List<Long> starts = new ArrayList<>();
    bench
        .type(
            "t",
            ActivityKind.QUERYABLE,
            4,
            times,
            new BoundHandler.Async(
                new ActivityHandler() {
                  @Override
                  public Future<Receipt> run(ActivityContext context) {
                    starts.add(bench.time.nanos() / 1_000_000_000);
                    return starts.size() <= failures ? Future.failedFuture(failure) : Bench.done();
                  }

                  @Override
                  public Future<ProbeResult> probe(ActivityContext context) {
                    return Future.succeededFuture(ProbeResult.neverHappened());
                  }
                }))
        .start();
    return starts;
  }

  @Test
  void whatNeverHappenedIsRunAgainAfterTheBackoff() {
    Bench.Times times =
        new Bench.Times(
            Duration.ofSeconds(30), Duration.ofMillis(500), Duration.ofSeconds(1), null);
    List<Long> starts = startsOfNeverHappened(times, new IllegalStateException("who knows"), 2);
    bench.deliver("t", "e1").advance(40_000);
    assertThat(starts).hasSize(3);
    assertThat(starts.get(1) - starts.get(0)).as("base-delay, or the sweep").isBetween(5L, 9L);
    assertThat(starts.get(2) - starts.get(1)).as("twice of it").isBetween(10L, 12L);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void aRemoteThatAskedToBeLeftAloneIsNeitherProbedNorCalledBefore() {
    RunFailure busy = new RunFailure(RunEvent.HTTP_503, "busy", Duration.ofMinutes(10), null);
    List<Long> starts = startsOfNeverHappened(SHORT, busy, 1);
    bench.deliver("t", "e1").advance(599_000);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RUNNING);
    assertThat(bench.store.count("holdForProbe")).isZero();
    bench.advance(8_000);
    assertThat(starts).as("as it asked, without a backoff on top").hasSize(2);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void aTakeoverOfWhatNeverHappenedWaitsForNoBackoff() {
    Bench.Times times =
        new Bench.Times(
            Duration.ofSeconds(30), Duration.ofSeconds(20), Duration.ofSeconds(29), null);
    List<Long> starts = startsOfNeverHappened(times, new IllegalStateException(), 0);
    diedElsewhere("t", ActivityKind.QUERYABLE, "e1", true);
    bench.row("e1").attempts = 2; // the backoff would be 10 s
    bench.advance(38_000);
    assertThat(starts).hasSize(1);
  }

  @Test
  void whatAProbeHoldsIsNotRunWhenTheAnswerToItWasLost() {
    bench
        .type(
            "t",
            ActivityKind.QUERYABLE,
            4,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(queryable(bench, ProbeResult.succeeded("ref-7"))))
        .start();
    diedElsewhere("t", ActivityKind.QUERYABLE, "e1", true);
    bench.store.loseNextAnswerOf("holdForProbe");
    bench.advance(36_000);
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.advance(60_000);
    assertThat(bench.ran).isEmpty();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
  }

  @Test
  void aReceiptRecordedEarlyStandsWhateverComesAfter() {
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            c ->
                c.recordReceipt(Receipt.succeeded("ref"))
                    .compose(done -> Future.failedFuture("crashed afterwards")))
        .start()
        .deliver("t", "e1");
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void aStaleHolderChangesNothingAndItsMessageAsksAgain() {
    Promise<Receipt> run = Promise.promise();
    bench
        .type("t", ActivityKind.IDEMPOTENT, c -> c.attempt() == 1 ? run.future() : Bench.done())
        .start()
        .deliver("t", "e1");
    bench.time.sleepThrough(Duration.ofSeconds(31)); // as SIGSTOP does
    FakeActivityStore.Row row = bench.row("e1");
    Evidence evidence = bench.store.expired(Bench.QUEUE, null, 1).result().get(0);
    bench.store.recover("other", evidence, RecoveryDecision.RETRY_SAME_ACTIVITY, null);
    run.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.events.leasesLost).isEqualTo(1);
    assertThat(bench.store.audit).contains("late e1 fence=1");
    assertThat(row.state).as("not overwritten").isNotEqualTo(ActivityState.COMPLETED);
    bench.advance(3_000);
    assertThat(row.state).as("the message was still here").isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.broker.acked).hasSize(1);
  }

  @Test
  void aClaimThatWaitedTooLongForItsAnswerIsNotRun() {
    bench.type("t", ActivityKind.IRREVERSIBLE, c -> Bench.done()).start();
    bench.store.delayAnswersOf("claim");
    bench.deliver("t", "e1");
    bench.time.sleepThrough(Duration.ofSeconds(28));
    bench.store.releaseAnswers();
    assertThat(bench.ran).as("beyond ttl minus the margin").isEmpty();
    bench.advance(2_000);
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.row("e1").attempts).isEqualTo(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void aSilentRunRaisesTheAlarmWhileItsHeartbeatGoesOn() {
    AtomicReference<ActivityContext> context = new AtomicReference<>();
    bench
        .type(
            "t",
            ActivityKind.PURE,
            4,
            new Bench.Times(
                Duration.ofSeconds(3),
                Duration.ofSeconds(50),
                Duration.ofSeconds(60),
                Duration.ofSeconds(4)),
            new BoundHandler.Async(
                c -> {
                  context.set(c);
                  return Promise.<Receipt>promise().future();
                }))
        .start()
        .deliver("t", "e1");
    bench.advance(3_000);
    context.get().progress(1, "half");
    bench.advance(3_500);
    assertThat(bench.events.stalled).isZero();
    assertThat(bench.row("e1").progress).isEqualTo(1);
    assertThat(bench.row("e1").phase).isEqualTo("half");
    context.get().progress(1, "half"); // a heartbeat, no progress
    bench.advance(1_500); // the timeout and one renewal since the progress
    assertThat(bench.events.stalled).isEqualTo(1);
    bench.advance(2_000);
    assertThat(bench.events.stalled).isEqualTo(1);
    assertThat(bench.store.audit).as("said once").containsOnlyOnce("stalled e1");
    assertThat(bench.row("e1").fence).isEqualTo(1);
    context.get().progress(2, "on");
    bench.advance(600);
    assertThat(bench.events.stalled).isZero();
  }

  /** A run of "e1" that has told its progress and goes on. */
  private void asksTheBank() {
    AtomicReference<ActivityContext> context = new AtomicReference<>();
    bench
        .type(
            "t",
            ActivityKind.PURE,
            4,
            new Bench.Times(
                Duration.ofSeconds(30), Duration.ofSeconds(50), Duration.ofSeconds(60), null),
            new BoundHandler.Async(
                c -> {
                  context.set(c);
                  return Promise.<Receipt>promise().future();
                }))
        .start()
        .deliver("t", "e1");
    context.get().progress(1, "asked the bank");
  }

  @Test
  void progressWhoseRenewalFailedGoesWithTheNext() {
    asksTheBank();
    bench.store.failNextOf("renew", new FencepostException(FailureKind.TIMEOUT, "no answer"));
    bench.advance(10_100);
    assertThat(bench.store.count("renew")).isEqualTo(1);
    assertThat(bench.row("e1").phase).isNull();
    bench.advance(10_000);
    assertThat(bench.row("e1").phase).isEqualTo("asked the bank");
  }

  @Test
  void progressWhoseRowWasLockedGoesWithTheNext() {
    asksTheBank();
    bench.store.locked = "e1";
    bench.advance(10_100);
    assertThat(bench.store.count("renew")).isEqualTo(1);
    assertThat(bench.row("e1").phase).isNull();
    bench.store.locked = null;
    bench.advance(10_000);
    assertThat(bench.row("e1").phase).isEqualTo("asked the bank");
    assertThat(bench.events.leasesLost).isZero();
  }

  @Test
  void suspectsRunAloneOneAtATime() {
    Promise<Receipt> first = Promise.promise();
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            c -> c.eventId().equals("e1") ? first.future() : Bench.done())
        .start();
    diedElsewhere("t", ActivityKind.IDEMPOTENT, "e1", true);
    diedElsewhere("t", ActivityKind.IDEMPOTENT, "e2", true);
    for (int i = 0; i < 80 && bench.ran.isEmpty(); i++) {
      bench.advance(500); // when the sweep comes by is left to chance
    }
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.row("e2").attempts).as("waits unclaimed").isEqualTo(1);
    bench.deliver("t", "n1");
    assertThat(bench.ran).as("nothing beside a suspect").containsExactly("e1");
    first.complete(Receipt.succeeded());
    bench.advance(10_000);
    assertThat(bench.ran).contains("e2", "n1");
    assertThat(bench.row("e2").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void oneAtATimeOfTheSweepsPagesIsRecoveredWhileAClaimHasNoAnswer() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    for (int i = 0; i < 200; i++) {
      diedElsewhere("t", ActivityKind.PURE, "e" + i, true);
    }
    bench.advance(29_000);
    diedElsewhere("t", ActivityKind.PURE, "due", true);
    FakeActivityStore.Row due = bench.row("due");
    due.state = ActivityState.RETRY_SCHEDULED;
    due.open = false;
    due.dueAt = bench.time.nanos();
    bench.store.delayAnswersOf("claimDue", "recover");
    bench.advance(15_000);
    assertThat(bench.store.count("claimDue")).isEqualTo(1);
    assertThat(bench.store.count("recover")).as("a page").isEqualTo(50);
    bench.store.releaseAnswers();
    bench.advance(60_000);
    assertThat(bench.store.rows.values()).allMatch(row -> row.state == ActivityState.COMPLETED);
  }

  @Test
  void aStartWhoseGiveBackIsBeingStoredHasLostNoLease() {
    AtomicReference<Duration> away = new AtomicReference<>(Duration.ofSeconds(60));
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            4,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(
                bench.recording(c -> Bench.done()), () -> Optional.ofNullable(away.get())))
        .start();
    bench.store.delayAnswersOf("settle");
    bench.deliver("t", "e1").advance(11_000);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.store.count("renew")).isPositive();
    bench.store.releaseAnswers();
    bench.advance(1_000);
    assertThat(bench.events.leasesLost).isZero();
    assertThat(bench.events.count(WorkerEvents.Outcome.LEASE_LOST)).isZero();
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.store.count("claim")).as("nothing is asked again").isEqualTo(1);
    away.set(null);
    bench.advance(60_000);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
  }

  @Test
  void aGiveBackThatCameTooLateIsToldAsLostOnce() {
    bench.type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start();
    bench.store.delayAnswersOf("claim");
    bench.deliver("t", "e1");
    bench.time.sleepThrough(Duration.ofSeconds(31));
    Evidence evidence = bench.store.expired(Bench.QUEUE, null, 1).result().get(0);
    bench.store.recover("other", evidence, RecoveryDecision.RETRY_SAME_ACTIVITY, null);
    bench.store.releaseAnswers();
    bench.store.delayAnswersOf("settle");
    bench.time.settle();
    bench.advance(11_000);
    assertThat(bench.store.count("renew")).isPositive();
    bench.store.releaseAnswers();
    bench.advance(20_000);
    assertThat(bench.events.leasesLost).isEqualTo(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void aLongPurgeEndsAndTheLoopGoesOn() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done());
    bench.store.fullPurges = 20_000;
    bench.start();
    bench.advance(6_000);
    assertThat(bench.store.count("purge")).isGreaterThan(20_000);
    long after = bench.store.count("purge");
    bench.advance(12_000);
    assertThat(bench.store.count("purge")).as("comes by again").isGreaterThan(after);
  }

  @Test
  void aPageOfHungRowsHidesNoneBehindIt() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done());
    bench.type("slow", ActivityKind.QUERYABLE, c -> Promise.<Receipt>promise().future());
    bench.start();
    for (int i = 0; i < 120; i++) {
      diedElsewhere("unknown", ActivityKind.QUERYABLE, "a" + i, true);
    }
    diedElsewhere("t", ActivityKind.PURE, "z", true);
    bench.advance(45_000);
    assertThat(bench.ran).containsExactly("z");
  }

  @Test
  void aSuspectWhoseClaimHadNoAnswerStillRunsAlone() {
    Promise<Receipt> beside = Promise.promise();
    bench
        .type("long", ActivityKind.PURE, c -> beside.future())
        .type("t", ActivityKind.IRREVERSIBLE, c -> Bench.done())
        .start();
    diedElsewhere("t", ActivityKind.IRREVERSIBLE, "e1", true);
    FakeActivityStore.Row row = bench.row("e1");
    row.state = ActivityState.RETRY_SCHEDULED; // by an operator, from review
    row.open = false;
    row.suspect = true;
    row.dueAt = bench.time.nanos();
    row.maxAttempts = 3;
    bench.store.loseNextAnswerOf("claimSuspect");
    bench.advance(1_500);
    assertThat(row.state).isEqualTo(ActivityState.RUNNING);
    bench.deliver("long", "n1");
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.advance(10_000);
    assertThat(bench.ran).as("not beside another").containsExactly("n1");
    beside.complete(Receipt.succeeded());
    bench.advance(60_000);
    assertThat(bench.ran).containsExactly("n1", "e1");
    assertThat(row.attempts).as("the start that was lost is given back").isEqualTo(2);
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void w18_theSweepTellsTheAgeOfTheOldestLeaseThatIsOver() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    diedElsewhere("unknown", ActivityKind.QUERYABLE, "stuck", true); // nobody here may decide
    bench.advance(20_000);
    assertThat(bench.events.expired).isZero();
    diedElsewhere("t", ActivityKind.PURE, "younger", true);
    bench.advance(70_000);
    assertThat(bench.events.expired)
        .as("a minute after its lease of 30 s, as of the last sweep")
        .isBetween(Duration.ofSeconds(54), Duration.ofSeconds(61));
    assertThat(bench.ran).containsExactly("younger");
    bench.row("stuck").state = ActivityState.COMPLETED;
    bench.advance(6_000);
    assertThat(bench.events.expired).isZero();
  }
}
