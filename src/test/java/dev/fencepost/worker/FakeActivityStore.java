package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import dev.fencepost.decide.RetryBudget;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.SqlConnection;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The store in memory, with a clock of its own (the database's). Each call is answered at once
 * unless a test makes it fail, lose its answer, or wait.
 */
public final class FakeActivityStore implements ActivityStore {
  /** An activity, open to the test's eyes. */
  public static final class Row {
    public ActivityId id;
    public String type;
    public ActivityKind kind;
    public String key;
    public ActivityState state;
    public int attempts;
    public int retries;
    public int redeliveries;
    public int maxAttempts;
    public int maxRetries;
    public int generation = 1;
    public long fence;
    public String owner;
    public long leaseUntil;
    public long dueAt;
    public long startedAt;
    public String phase;
    public Long progress;
    public boolean suspect;
    public boolean open; // its newest attempt has not ended
    public long firstSeen;
    public long finishedAt;
    public boolean keep;
    public boolean awaiting;
    public RecoveryDecision awaited;
    public ReceiptOutcome receipt;
    public ErrorInfo error; // of its newest attempt
    public Delivery.Envelope body;
    public long order;

    boolean ended() {
      return state == ActivityState.COMPLETED || state == ActivityState.DEAD;
    }
  }

  public record Attempt(ActivityId id, long fence, String worker, AttemptOutcome outcome) {}

  public record DeadLetter(
      ActivityId id, DeadLetterReason reason, int attempts, Delivery.Envelope message) {}

  /** A line of the audit log. */
  public record Line(ActivityId id, String action) {}

  private record Starts(String consumer, String type, long at, long first, long retries) {}

  private final LongSupplier nanos;
  public final Map<ActivityId, Row> rows = new LinkedHashMap<>();
  public final List<Attempt> attempts = new ArrayList<>();
  public final List<DeadLetter> deadLetters = new ArrayList<>();
  public final List<String> audit = new ArrayList<>();
  public final List<Line> log = new ArrayList<>();
  public final List<String> calls = new ArrayList<>();
  private final ArrayDeque<Throwable> failures = new ArrayDeque<>();
  private final Map<String, ArrayDeque<Throwable>> failuresOf = new HashMap<>();
  private final List<Runnable> delayed = new ArrayList<>();

  /** Every call fails with this, while it is not null. */
  public Throwable down;

  /** A recovery of this event is refused by the database. */
  public String badRow;

  /** Renewals skip this event: somebody has locked its row. */
  public String locked;

  /** Calls of this name are refused by the database, while it is not null. */
  public String refused;

  /** So many purges find a full page. */
  public int fullPurges;

  /** Calls of this name throw, while it is not null. */
  public String faulty;

  private String loseAnswerOf;
  private Set<String> delayAnswersOf = Set.of();
  private Consumer<String> released = consumer -> {};
  private long order;
  private final List<Long> diedAt = new ArrayList<>();
  private final Map<Long, Long> copyDue = new HashMap<>();
  private final List<Starts> starts = new ArrayList<>();
  private final List<DeadLettered> untold = new ArrayList<>();
  private Consumer<DeadLettered> told = letter -> {};

  public FakeActivityStore(LongSupplier nanos) {
    this.nanos = nanos;
  }

  public Row row(String consumer, String eventId) {
    return rows.get(new ActivityId(consumer, eventId));
  }

  /** The next call fails with this and changes nothing. */
  public void failNext(Throwable cause) {
    failures.add(cause);
  }

  /** The same for the next call of this name; several times for several calls. */
  public void failNextOf(String call, Throwable cause) {
    failuresOf.computeIfAbsent(call, c -> new ArrayDeque<>()).add(cause);
  }

  /** The next call of this name is carried out, and its answer lost. */
  public void loseNextAnswerOf(String call) {
    loseAnswerOf = call;
  }

  /** Calls of these names are carried out at once and answered by {@link #releaseAnswers}. */
  public void delayAnswersOf(String... calls) {
    delayAnswersOf = Set.of(calls);
  }

  public void releaseAnswers() {
    delayAnswersOf = Set.of();
    List<Runnable> now = new ArrayList<>(delayed);
    delayed.clear();
    now.forEach(Runnable::run);
  }

  public long count(String call) {
    return calls.stream().filter(call::equals).count();
  }

  private <T> Future<T> call(String name, Supplier<T> work) {
    calls.add(name);
    if (name.equals(faulty)) {
      throw new IllegalStateException("a fault in " + name);
    }
    Throwable failure = down == null ? failures.poll() : down;
    if (failure == null && failuresOf.containsKey(name)) {
      failure = failuresOf.get(name).poll();
    }
    if (failure != null) {
      return Future.failedFuture(failure);
    }
    if (name.equals(refused)) {
      return Future.failedFuture(new FencepostException(FailureKind.DATABASE_REFUSED, name));
    }
    T answer = work.get();
    List<DeadLettered> letters = List.copyOf(untold);
    untold.clear();
    if (name.equals(loseAnswerOf)) {
      loseAnswerOf = null;
      return Future.failedFuture(new FencepostException(FailureKind.TIMEOUT, "answer lost"));
    }
    if (delayAnswersOf.contains(name)) {
      Promise<T> promise = Promise.promise();
      delayed.add(
          () -> {
            letters.forEach(told);
            promise.complete(answer);
          });
      return promise.future();
    }
    letters.forEach(told);
    return Future.succeededFuture(answer);
  }

  @Override
  public void onDeadLetter(Consumer<DeadLettered> listener) {
    told = listener;
  }

  @Override
  public Future<List<Claim.Answer>> claim(String owner, List<Claim.Request> group) {
    return call("claim", () -> group.stream().map(r -> claimOne(owner, r, true)).toList());
  }

  @Override
  public Future<List<Claim.Answer>> defer(List<Claim.Request> group) {
    return call("defer", () -> group.stream().map(this::deferOne).toList());
  }

  private Claim.Answer deferOne(Claim.Request request) {
    if (rows.containsKey(request.id())) {
      return claimOne("", request, false);
    }
    Row row = insert(request);
    row.body = request.envelope();
    if (blocked(row)) {
      row.state = ActivityState.BLOCKED;
    } else {
      schedule(row, Duration.ZERO);
    }
    return new Claim.Waiting(row.state);
  }

  private Claim.Answer claimOne(String owner, Claim.Request request, boolean start) {
    Row row = rows.get(request.id());
    if (row == null) {
      row = insert(request);
      if (blocked(row)) {
        row.state = ActivityState.BLOCKED;
        row.body = request.envelope();
        return new Claim.Waiting(row.state);
      }
      return new Claim.Started(begin(row, owner, request.work(), true));
    }
    row.redeliveries += request.redelivered() ? 1 : 0;
    if (row.ended()) {
      return new Claim.Duplicate(row.state, row.retries);
    }
    if (row.state != ActivityState.RUNNING || row.awaiting) {
      takeBody(row, request.envelope());
      return row.ended()
          ? new Claim.Duplicate(row.state, row.retries)
          : new Claim.Waiting(row.state, row.retries);
    }
    long left = row.leaseUntil - nanos.getAsLong();
    return left > 0
        ? new Claim.Held(Duration.ofNanos(left), evidence(row))
        : new Claim.Expired(evidence(row));
  }

  private Row insert(Claim.Request request) {
    Row row = new Row();
    row.id = request.id();
    row.type = request.work().type();
    row.kind = request.work().kind();
    row.key = request.key();
    row.maxAttempts = request.work().maxAttempts();
    row.maxRetries = request.work().maxRetries();
    row.order = order++;
    row.firstSeen = nanos.getAsLong();
    row.redeliveries = request.redelivered() ? 1 : 0;
    rows.put(row.id, row);
    return row;
  }

  private boolean blocked(Row row) {
    return row.key != null
        && rows.values().stream()
            .anyMatch(
                r ->
                    r != row
                        && r.id.consumer().equals(row.id.consumer())
                        && row.key.equals(r.key)
                        && (r.order < row.order || r.state == ActivityState.RUNNING)
                        && !r.ended());
  }

  private Claim.Ticket begin(Row row, String owner, Claim.Work work, boolean counts) {
    boolean suspect = row.suspect;
    row.state = ActivityState.RUNNING;
    row.attempts += counts ? 1 : 0;
    row.fence++;
    row.owner = owner;
    row.maxAttempts = work.maxAttempts();
    row.maxRetries = work.maxRetries();
    row.leaseUntil = nanos.getAsLong() + work.leaseTtl().toNanos();
    row.startedAt = counts ? nanos.getAsLong() : row.startedAt;
    row.open = counts;
    row.error = counts ? null : row.error;
    row.phase = null;
    row.progress = null;
    return new Claim.Ticket(
        row.id,
        work,
        row.fence,
        row.attempts,
        row.retries,
        row.generation,
        row.attempts == 1,
        suspect);
  }

  private void takeBody(Row row, Delivery.Envelope envelope) {
    if (row.body == null) {
      row.body = envelope;
    }
    if (row.awaiting) {
      row.awaiting = false;
      apply(row, row.awaited, null);
    }
  }

  private Evidence evidence(Row row) {
    return new Evidence(
        row.id,
        row.type,
        row.kind,
        new Evidence.Holder(
            String.valueOf(row.owner), row.fence, row.open, row.phase, row.progress),
        new Evidence.Counts(
            row.attempts, row.maxAttempts, row.retries, row.maxRetries, row.generation),
        row.receipt,
        Duration.ofNanos(nanos.getAsLong() - row.startedAt),
        row.body != null,
        row.suspect,
        new Evidence.Lease(
            row.leaseUntil / 1_000, Duration.ofNanos(nanos.getAsLong() - row.leaseUntil)));
  }

  private boolean ours(Row row, String owner, long fence) {
    return row != null
        && row.state == ActivityState.RUNNING
        && owner.equals(row.owner)
        && row.fence == fence;
  }

  @Override
  public Future<List<Boolean>> settle(String owner, List<Settlement> group) {
    return call("settle", () -> group.stream().map(s -> settleOne(owner, s)).toList());
  }

  private boolean settleOne(String owner, Settlement settlement) {
    Claim.Ticket ticket = settlement.ticket();
    Row row = rows.get(ticket.id());
    AttemptOutcome outcome = outcome(settlement.how());
    if (!ours(row, owner, ticket.fence())) {
      boolean before = attempts.contains(new Attempt(ticket.id(), ticket.fence(), owner, outcome));
      if (!before) {
        late(ticket, "lease_lost");
      }
      return before;
    }
    attempts.add(new Attempt(row.id, row.fence, owner, outcome));
    row.open = false;
    if (settlement.envelope() != null && row.body == null) {
      row.body = settlement.envelope();
    }
    if (outcome == AttemptOutcome.TIMED_OUT || outcome == AttemptOutcome.UNKNOWN) {
      row.fence++;
    }
    row.error = error(settlement.how());
    Settlement.How how = recorded(row, settlement.how());
    apply(row, how);
    if (row.state == ActivityState.DEAD && how != settlement.how()) {
      unasked(row, DeadLetterReason.PERMANENT_FAILURE);
    }
    return true;
  }

  /** A receipt that is there is stronger than the outcome. */
  private static Settlement.How recorded(Row row, Settlement.How how) {
    return row.receipt == null ? how : new Settlement.Completed(new Receipt(row.receipt, null));
  }

  private void late(Claim.Ticket ticket, String action) {
    audit.add("late " + ticket.id().eventId() + " fence=" + ticket.fence());
    log.add(new Line(ticket.id(), action));
  }

  private void apply(Row row, Settlement.How how) {
    boolean interrupted = outcome(how) == AttemptOutcome.INTERRUPTED;
    row.suspect = row.suspect && interrupted;
    if (how instanceof Settlement.Completed done) {
      row.receipt = done.receipt().outcome();
      if (row.receipt == ReceiptOutcome.SUCCEEDED) {
        end(row, ActivityState.COMPLETED);
      } else {
        die(row, DeadLetterReason.PERMANENT_FAILURE);
      }
    } else if (how instanceof Settlement.RunAgain again) {
      row.retries += again.countsRetry() ? 1 : 0;
      schedule(row, again.delay());
    } else if (how instanceof Settlement.Interrupted) {
      row.attempts--;
      schedule(row, Duration.ZERO);
    } else if (how instanceof Settlement.Postponed postponed) {
      row.attempts--;
      schedule(row, postponed.delay());
    } else if (how instanceof Settlement.Dead dead) {
      die(row, dead.reason());
    } else if (how instanceof Settlement.Review) {
      row.keep = true;
      row.state = ActivityState.MANUAL_REVIEW;
      row.owner = null;
    } else if (how instanceof Settlement.Undecided undecided) {
      row.leaseUntil = nanos.getAsLong() + undecided.quiet().toNanos();
    }
  }

  private static AttemptOutcome outcome(Settlement.How how) {
    if (how instanceof Settlement.Completed done) {
      return done.receipt().outcome() == ReceiptOutcome.SUCCEEDED
          ? AttemptOutcome.SUCCEEDED
          : AttemptOutcome.PERMANENT_FAILURE;
    }
    if (how instanceof Settlement.RunAgain again) {
      return again.outcome();
    }
    if (how instanceof Settlement.Dead dead) {
      return dead.outcome();
    }
    if (how instanceof Settlement.Review review) {
      return review.outcome();
    }
    return how instanceof Settlement.Undecided undecided
        ? undecided.outcome()
        : AttemptOutcome.INTERRUPTED;
  }

  private static ErrorInfo error(Settlement.How how) {
    if (how instanceof Settlement.RunAgain again) {
      return again.error();
    }
    if (how instanceof Settlement.Dead dead) {
      return dead.error();
    }
    if (how instanceof Settlement.Review review) {
      return review.error();
    }
    return how instanceof Settlement.Undecided undecided ? undecided.error() : null;
  }

  /** A dead letter of which no answer speaks. */
  private void unasked(Row row, DeadLetterReason reason) {
    String word = row.receipt == null ? "lease_lost" : "failed_permanent";
    String message = row.receipt == null ? "no outcome was reported" : null;
    ErrorInfo error =
        row.error == null
            ? new ErrorInfo(word, message, null)
            : new ErrorInfo(row.error.errorClass(), row.error.message(), null);
    untold.add(
        new DeadLettered(
            row.id, row.type, reason, deadLetters.get(deadLetters.size() - 1).attempts(), error));
  }

  private void schedule(Row row, Duration delay) {
    row.state = ActivityState.RETRY_SCHEDULED;
    row.owner = null;
    row.dueAt = nanos.getAsLong() + delay.toNanos();
  }

  private void die(Row row, DeadLetterReason reason) {
    int starts = reason == DeadLetterReason.POISON_MESSAGE ? 1 : row.attempts;
    deadLetters.add(new DeadLetter(row.id, reason, starts, row.body));
    diedAt.add(nanos.getAsLong());
    row.keep = true;
    end(row, ActivityState.DEAD);
  }

  private void end(Row row, ActivityState state) {
    row.state = state;
    row.owner = null;
    row.finishedAt = nanos.getAsLong();
    if (row.key == null) {
      return;
    }
    String consumer = row.id.consumer();
    rows.values().stream()
        .filter(r -> r.id.consumer().equals(consumer) && row.key.equals(r.key) && !r.ended())
        .min(Comparator.comparingLong(r -> r.order))
        .filter(first -> first.state == ActivityState.BLOCKED || isDue(first, consumer))
        .ifPresent(
            first -> {
              schedule(first, Duration.ZERO);
              released.accept(consumer);
            });
  }

  @Override
  public void onReleased(Consumer<String> told) {
    released = told;
  }

  @Override
  public Future<Void> recordLate(
      String owner, Claim.Ticket ticket, Receipt receipt, ErrorInfo error) {
    return call(
        "recordLate",
        () -> {
          late(ticket, "late_result");
          return null;
        });
  }

  @Override
  public Future<Boolean> keepBody(ActivityId id, Delivery.Envelope envelope) {
    return call(
        "keepBody",
        () -> {
          Row row = rows.get(id);
          if (row != null && !row.ended()) {
            takeBody(row, envelope);
          }
          return row != null;
        });
  }

  @Override
  public Future<Boolean> recordReceipt(String owner, Claim.Ticket ticket, Receipt receipt) {
    return call(
        "recordReceipt",
        () -> {
          Row row = rows.get(ticket.id());
          boolean ours = ours(row, owner, ticket.fence());
          if (!ours) {
            late(ticket, "lease_lost");
          } else if (row.receipt == null) {
            row.receipt = receipt.outcome();
          }
          return ours;
        });
  }

  @Override
  public Future<List<Renewed>> renew(String owner, Duration ttl, List<Renewal> group) {
    return call(
        "renew",
        () ->
            group.stream()
                .map(
                    renewal -> {
                      Row row = rows.get(renewal.id());
                      boolean ours = ours(row, owner, renewal.fence());
                      if (ours && row.id.eventId().equals(locked)) {
                        return Renewed.SKIPPED;
                      }
                      if (ours) {
                        row.leaseUntil = nanos.getAsLong() + ttl.toNanos();
                        row.progress =
                            renewal.progressSeq() == null ? row.progress : renewal.progressSeq();
                        row.phase = renewal.phase() == null ? row.phase : renewal.phase();
                      }
                      return ours ? Renewed.STORED : Renewed.LOST;
                    })
                .toList());
  }

  @Override
  public Future<Set<String>> mayBeDue(Set<String> consumers) {
    return call(
        "mayBeDue",
        () ->
            consumers.stream()
                .filter(of -> rows.values().stream().anyMatch(row -> isDue(row, of)))
                .collect(Collectors.toSet()));
  }

  @Override
  public Future<List<Claim.Due>> claimDue(String owner, String consumer, Map<String, Slots> free) {
    return call(
        "claimDue",
        () -> {
          List<Claim.Due> due = new ArrayList<>();
          for (Map.Entry<String, Slots> type : free.entrySet()) {
            Slots slots = type.getValue();
            int any = slots.free();
            int first = slots.first();
            for (Row row : due(consumer, type.getKey(), false)) {
              boolean fresh = row.attempts == 0 && first > 0;
              if ((fresh ? first : any) > 0 && allowed(row, slots.work())) {
                first -= fresh ? 1 : 0;
                any -= fresh ? 0 : 1;
                due.add(due(row, owner, slots.work()));
              }
            }
          }
          return due;
        });
  }

  private List<Row> due(String consumer, String type, boolean suspect) {
    return rows.values().stream()
        .filter(r -> isDue(r, consumer) && r.type.equals(type) && r.suspect == suspect)
        .filter(r -> !blocked(r))
        .sorted(Comparator.comparingLong(r -> r.dueAt))
        .toList();
  }

  private boolean isDue(Row row, String consumer) {
    return row.state == ActivityState.RETRY_SCHEDULED
        && !row.awaiting
        && row.id.consumer().equals(consumer)
        && row.dueAt <= nanos.getAsLong();
  }

  /** The limits are asked again: what has used up its starts dies instead. */
  private boolean allowed(Row row, Claim.Work work) {
    if (row.attempts >= work.maxAttempts()) {
      die(row, DeadLetterReason.RETRIES_EXHAUSTED);
      unasked(row, DeadLetterReason.RETRIES_EXHAUSTED);
      return false;
    }
    return true;
  }

  private Claim.Due due(Row row, String owner, Claim.Work work) {
    return new Claim.Due(begin(row, owner, work, true), row.key, row.body);
  }

  @Override
  public Future<Claim.Due> claimSuspect(
      String owner, String consumer, Map<String, Claim.Work> types) {
    return call(
        "claimSuspect",
        () -> {
          for (Map.Entry<String, Claim.Work> type : types.entrySet()) {
            for (Row row : due(consumer, type.getKey(), true)) {
              if (allowed(row, type.getValue())) {
                return due(row, owner, type.getValue());
              }
            }
          }
          return null;
        });
  }

  @Override
  public Future<Set<String>> mayNeedSweep(Set<String> consumers) {
    return call(
        "mayNeedSweep",
        () ->
            rows.values().stream()
                .filter(r -> r.state == ActivityState.RUNNING && !r.awaiting)
                .filter(r -> r.leaseUntil <= nanos.getAsLong())
                .map(r -> r.id.consumer())
                .filter(consumers::contains)
                .collect(Collectors.toSet()));
  }

  @Override
  public Future<List<Evidence>> expired(String consumer, Evidence after, int page) {
    Comparator<Row> order =
        Comparator.<Row>comparingLong(r -> r.leaseUntil / 1_000).thenComparing(r -> r.id.eventId());
    return call(
        "expired",
        () ->
            rows.values().stream()
                .filter(r -> r.state == ActivityState.RUNNING && !r.awaiting)
                .filter(r -> r.id.consumer().equals(consumer))
                .filter(r -> r.leaseUntil <= nanos.getAsLong())
                .filter(
                    r ->
                        after == null
                            || r.leaseUntil / 1_000 > after.lease().untilMicros()
                            || (r.leaseUntil / 1_000 == after.lease().untilMicros()
                                && r.id.eventId().compareTo(after.id().eventId()) > 0))
                .sorted(order)
                .limit(page)
                .map(this::evidence)
                .toList());
  }

  @Override
  public Future<Boolean> recover(
      String owner, Evidence evidence, RecoveryDecision decision, Delivery.Envelope envelope) {
    if (evidence.id().eventId().equals(badRow)) {
      calls.add("recover");
      return Future.failedFuture(new FencepostException(FailureKind.DATABASE_REFUSED, "a bad row"));
    }
    return call(
        "recover",
        () -> {
          Row row = rows.get(evidence.id());
          boolean same =
              row.state == ActivityState.RUNNING
                  && row.fence == evidence.holder().fence()
                  && row.leaseUntil <= nanos.getAsLong();
          if (same) {
            lost(row, decision);
            log.add(new Line(row.id, "takeover"));
            if (row.body == null) {
              row.body = envelope;
            }
            apply(row, decision, null);
          }
          return same;
        });
  }

  private void lost(Row row, RecoveryDecision decision) {
    row.suspect = row.open || row.suspect;
    row.keep = true;
    if (row.open) {
      boolean recorded =
          decision == RecoveryDecision.RECORD_COMPLETION
              || decision == RecoveryDecision.RECORD_FAILURE;
      AttemptOutcome outcome = recorded ? AttemptOutcome.SUPERSEDED : AttemptOutcome.LEASE_LOST;
      attempts.add(new Attempt(row.id, row.fence, row.owner, outcome));
      row.open = false;
    }
    row.fence++;
  }

  private void apply(Row row, RecoveryDecision decision, Receipt receipt) {
    audit.add(decision.wire() + " " + row.id.eventId());
    row.owner = null;
    if (receipt != null) {
      row.receipt = receipt.outcome();
    }
    boolean needsBody =
        decision == RecoveryDecision.RETRY_SAME_ACTIVITY
            || decision == RecoveryDecision.EXHAUSTED
            || decision == RecoveryDecision.RECORD_FAILURE;
    if (needsBody && row.body == null) {
      row.awaiting = true;
      row.awaited = decision;
      return;
    }
    switch (decision) {
      case RECORD_COMPLETION -> end(row, ActivityState.COMPLETED);
      case RECORD_FAILURE -> {
        die(row, DeadLetterReason.PERMANENT_FAILURE);
        unasked(row, DeadLetterReason.PERMANENT_FAILURE);
      }
      case EXHAUSTED -> {
        die(row, DeadLetterReason.RETRIES_EXHAUSTED);
        unasked(row, DeadLetterReason.RETRIES_EXHAUSTED);
      }
      case MANUAL_REVIEW -> row.state = ActivityState.MANUAL_REVIEW;
      case RETRY_SAME_ACTIVITY -> {
        schedule(row, Duration.ZERO);
      }
      case WAIT -> throw new IllegalArgumentException("wait is no decision to carry out");
    }
  }

  @Override
  public Future<Hold> holdForProbe(String owner, Evidence evidence, Claim.Work work) {
    return call(
        "holdForProbe",
        () -> {
          Row row = rows.get(evidence.id());
          if (row.state != ActivityState.RUNNING || row.fence != evidence.holder().fence()) {
            return null;
          }
          lost(row, RecoveryDecision.RETRY_SAME_ACTIVITY);
          row.fence--; // the lease that begins raises it
          log.add(new Line(row.id, "takeover"));
          return new Hold(begin(row, owner, work, false), row.key, row.body);
        });
  }

  @Override
  public Future<Boolean> settleProbed(
      String owner, Claim.Ticket held, Probed probed, Delivery.Envelope envelope) {
    return call(
        "settleProbed",
        () -> {
          Row row = rows.get(held.id());
          boolean ours = ours(row, owner, held.fence());
          if (ours) {
            if (row.body == null) {
              row.body = envelope;
            }
            log.add(new Line(row.id, "probe"));
            apply(row, probed.decision(), probed.receipt());
            row.dueAt += probed.delay().toNanos();
          } else {
            late(held, "lease_lost");
          }
          return ours;
        });
  }

  @Override
  public Future<EffectGroup> beginEffects(
      String owner, Duration hardLimit, List<Claim.Request> fresh) {
    return call(
        "beginEffects",
        () -> {
          List<Claim.Answer> answers = new ArrayList<>();
          for (Claim.Request request : fresh) {
            answers.add(
                rows.containsKey(request.id()) || behind(request)
                    ? claimOne(owner, request, false)
                    : new Claim.Started(
                        new Claim.Ticket(request.id(), request.work(), 1, 1, 0, 1, true, false)));
          }
          return new Group(owner, answers, fresh, null, null);
        });
  }

  private boolean behind(Claim.Request request) {
    return request.key() != null
        && rows.values().stream()
            .filter(r -> r.id.consumer().equals(request.id().consumer()) && !r.ended())
            .anyMatch(r -> request.key().equals(r.key));
  }

  @Override
  public Future<EffectGroup> beginEffect(
      String owner, Duration hardLimit, Claim.Ticket claimed, Delivery.Envelope envelope) {
    calls.add("beginEffect");
    Row row = rows.get(claimed.id());
    if (!ours(row, owner, claimed.fence())) {
      if (committed(claimed, owner)) {
        List<Claim.Answer> before = List.of(new Claim.Duplicate(row.state, row.retries));
        return Future.succeededFuture(new Group(owner, before, null, claimed, envelope));
      }
      late(claimed, "lease_lost");
      return Future.failedFuture(
          new FencepostException(FailureKind.LEASE_LOST, claimed.id().toString()));
    }
    return Future.succeededFuture(
        new Group(owner, List.of(new Claim.Started(claimed)), null, claimed, envelope));
  }

  private boolean committed(Claim.Ticket claimed, String owner) {
    return attempts.stream()
        .anyMatch(
            a ->
                a.id().equals(claimed.id())
                    && a.fence() == claimed.fence()
                    && a.worker().equals(owner)
                    && (a.outcome() == AttemptOutcome.SUCCEEDED
                        || a.outcome() == AttemptOutcome.PERMANENT_FAILURE));
  }

  private final class Group implements EffectGroup {
    private final String owner;
    private final List<Claim.Answer> answers;
    private final List<Claim.Request> fresh;
    private final Claim.Ticket claimed;
    private final Delivery.Envelope envelope;
    private final List<ActivityId> withdrawn = new ArrayList<>();
    private final Map<ActivityId, ErrorInfo> failed = new HashMap<>();

    Group(
        String owner,
        List<Claim.Answer> answers,
        List<Claim.Request> fresh,
        Claim.Ticket claimed,
        Delivery.Envelope envelope) {
      this.envelope = envelope;
      this.owner = owner;
      this.answers = answers;
      this.fresh = fresh;
      this.claimed = claimed;
    }

    @Override
    public List<Claim.Answer> answers() {
      return answers;
    }

    @Override
    public SqlConnection connection() {
      return (SqlConnection)
          Proxy.newProxyInstance(
              SqlConnection.class.getClassLoader(),
              new Class<?>[] {SqlConnection.class},
              (proxy, method, arguments) -> {
                throw new UnsupportedOperationException(method.getName());
              });
    }

    @Override
    public Future<Void> commit(List<Receipt> receipts) {
      return call(
          "commit",
          () -> {
            int at = 0;
            for (int i = 0; i < answers.size(); i++) {
              if (answers.get(i) instanceof Claim.Started started
                  && !withdrawn.contains(started.ticket().id())) {
                ErrorInfo error = failed.get(started.ticket().id());
                Settlement.How how =
                    error == null
                        ? new Settlement.Completed(receipts.get(at++))
                        : new Settlement.Dead(
                            DeadLetterReason.PERMANENT_FAILURE,
                            AttemptOutcome.PERMANENT_FAILURE,
                            error);
                if (claimed == null) {
                  Row row = insert(fresh.get(i));
                  begin(row, owner, fresh.get(i).work(), true);
                  row.body = fresh.get(i).envelope();
                }
                settleOne(owner, new Settlement(started.ticket(), how, envelope));
              }
            }
            return null;
          });
    }

    @Override
    public Future<Void> rollback() {
      return call("rollback", () -> null);
    }

    @Override
    public Future<Void> savepoint() {
      return call("savepoint", () -> null);
    }

    @Override
    public Future<Void> rollbackToSavepoint() {
      return call("rollbackToSavepoint", () -> null);
    }

    @Override
    public Future<Void> withdraw(List<ActivityId> ids) {
      withdrawn.addAll(ids);
      return call("withdraw", () -> null);
    }

    @Override
    public Future<Void> fail(List<FailedEffect> dead) {
      dead.forEach(one -> failed.put(one.id(), one.error()));
      return call("fail", () -> null);
    }

    @Override
    public Future<Void> abandon() {
      return call("abandon", () -> null);
    }
  }

  @Override
  public Future<Boolean> poison(
      ActivityId identity, String type, Delivery.Envelope envelope, ErrorInfo error) {
    return call(
        "poison",
        () -> {
          boolean fresh = !rows.containsKey(identity);
          if (fresh) {
            Row row = new Row();
            rows.put(identity, row);
            row.id = identity;
            row.type = type;
            row.body = envelope;
            row.error = error;
            die(row, DeadLetterReason.POISON_MESSAGE);
          }
          return fresh;
        });
  }

  @Override
  public Future<List<Uncopied>> uncopied(
      String consumer, Duration lease, Duration giveUpAfter, int page) {
    return call(
        "uncopied",
        () -> {
          long now = nanos.getAsLong();
          List<Uncopied> found = new ArrayList<>();
          for (int i = 0; i < deadLetters.size() && found.size() < page; i++) {
            DeadLetter dead = deadLetters.get(i);
            long id = i;
            if (dead.id().consumer().equals(consumer)
                && dead.message() != null
                && now - diedAt.get(i) < giveUpAfter.toNanos()
                && copyDue.getOrDefault(id, 0L) <= now) {
              copyDue.put(id, now + lease.toNanos());
              found.add(new Uncopied(id, dead.id(), dead.reason(), dead.message()));
            }
          }
          return found;
        });
  }

  @Override
  public Future<Void> copied(List<Long> ids) {
    return call(
        "copied",
        () -> {
          ids.forEach(id -> copyDue.put(id, Long.MAX_VALUE));
          return null;
        });
  }

  @Override
  public Future<Boolean> hasDue(String consumer, String type) {
    return call("hasDue", () -> !due(consumer, type, false).isEmpty());
  }

  @Override
  public Future<Void> storeUnresolved(
      ActivityId id, String type, String key, Delivery.Envelope envelope) {
    return call(
        "storeUnresolved",
        () -> {
          rows.computeIfAbsent(
              id,
              i -> {
                Row row = new Row();
                row.id = id;
                row.type = type;
                row.key = key;
                row.state = ActivityState.UNRESOLVED;
                row.body = envelope;
                row.order = order++;
                row.startedAt = nanos.getAsLong();
                row.firstSeen = nanos.getAsLong();
                return row;
              });
          return null;
        });
  }

  @Override
  public Future<Integer> resolveTypes(String consumer, List<String> known, Duration cap, int page) {
    return call(
        "resolveTypes",
        () -> {
          int resolved = 0;
          for (Row row : List.copyOf(rows.values())) {
            if (row.state == ActivityState.UNRESOLVED && row.id.consumer().equals(consumer)) {
              if (known.contains(row.type)) {
                schedule(row, Duration.ZERO);
                resolved++;
              } else if (nanos.getAsLong() - row.firstSeen > cap.toNanos()) {
                row.error =
                    new ErrorInfo("unknown_type", "no worker knows the type " + row.type, null);
                die(row, DeadLetterReason.POISON_MESSAGE);
                unasked(row, DeadLetterReason.POISON_MESSAGE);
                resolved++;
              }
            }
          }
          return resolved;
        });
  }

  @Override
  public Future<Void> recordStall(Claim.Ticket ticket, Duration silence) {
    return call(
        "recordStall",
        () -> {
          audit.add("stalled " + ticket.id().eventId());
          log.add(new Line(ticket.id(), "stalled"));
          return null;
        });
  }

  @Override
  public Future<BudgetCounts> countStarts(
      String consumer, String type, long[] first, long retries) {
    return call(
        "countStarts",
        () -> {
          long now = nanos.getAsLong();
          starts.add(new Starts(consumer, type, now, 0, retries));
          for (int age = 0; age < first.length; age++) {
            long at = now - Duration.ofSeconds(age).toNanos();
            starts.add(new Starts(consumer, type, at, first[age], 0));
          }
          starts.removeIf(s -> now - s.at() > RetryBudget.WINDOW.toNanos());
          List<Starts> of =
              starts.stream()
                  .filter(s -> s.consumer().equals(consumer) && s.type().equals(type))
                  .toList();
          return new BudgetCounts(
              of.stream().mapToLong(Starts::first).sum(),
              of.stream().mapToLong(Starts::retries).sum(),
              now);
        });
  }

  @Override
  public Future<Void> uncountRetries(String consumer, String type, long second, long retries) {
    return call(
        "uncountRetries",
        () -> {
          starts.add(new Starts(consumer, type, second, 0, -retries));
          return null;
        });
  }

  @Override
  public Future<Long> openReviews(String consumer) {
    return call(
        "openReviews",
        () ->
            rows.values().stream()
                .filter(r -> r.state == ActivityState.MANUAL_REVIEW)
                .filter(r -> Objects.equals(r.id.consumer(), consumer))
                .count());
  }

  @Override
  public Future<Integer> purge(String consumer, Duration olderThan, int page) {
    return call(
        "purge",
        () -> {
          if (fullPurges > 0) {
            fullPurges--;
            return page;
          }
          List<ActivityId> old =
              rows.values().stream()
                  .filter(r -> r.state == ActivityState.COMPLETED && !r.keep)
                  .filter(r -> r.kind != ActivityKind.IRREVERSIBLE)
                  .filter(r -> r.id.consumer().equals(consumer))
                  .filter(r -> nanos.getAsLong() - r.finishedAt > olderThan.toNanos())
                  .limit(page)
                  .map(r -> r.id)
                  .toList();
          old.forEach(rows::remove);
          return old.size();
        });
  }
}
