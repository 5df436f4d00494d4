package dev.fencepost.worker;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.Receipt;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One invocation of a handler. {@code OPEN} until the handler returns ({@code RETURNED}) or this
 * worker gives it up ({@code CLOSED}: hard limit, lease lost, shutdown); a closed run records
 * nothing any more and occupies a leaked slot until its handler returns.
 *
 * <p>Handlers may call it from any thread; everything else is confined to the worker's context.
 */
final class Run implements ActivityContext {
  enum State {
    OPEN,
    RETURNED,
    CLOSED
  }

  private final WorkerEnv env;
  private final Job job;
  private final Claim.Ticket ticket;
  private final long startedNanos;
  private final Promise<Void> soft = Promise.promise();
  private volatile State state = State.OPEN;
  private final AtomicReference<@Nullable Progress> progress = new AtomicReference<>();
  private @Nullable Receipt recorded;

  /** Receipts on their way, and what waits to know whether they were stored. */
  private int recording;

  private @Nullable Runnable onceRecorded;
  private Runnable onClose = () -> {};
  private boolean leaked;
  private long progressStored = Long.MIN_VALUE;
  private boolean stalled;

  /** What the handler said last; replaced whole, so that any thread may write it. */
  record Progress(long seq, String phase, long atNanos) {}

  Run(WorkerEnv env, Job job, Claim.Ticket ticket) {
    this.env = env;
    this.job = job;
    this.ticket = ticket;
    this.startedNanos = env.timers().nanos();
  }

  Job job() {
    return job;
  }

  Claim.Ticket ticket() {
    return ticket;
  }

  long startedNanos() {
    return startedNanos;
  }

  State state() {
    return state;
  }

  /** The receipt that is durable already, or null. */
  @Nullable Receipt recorded() {
    return recorded;
  }

  /**
   * Runs it once nothing is on its way that {@link #recorded} will tell of: a receipt that turns
   * out to be durable decides, whatever else came.
   */
  void onceRecorded(Runnable task) {
    if (recording == 0) {
      task.run();
    } else {
      onceRecorded = task;
    }
  }

  /** The handler has come back; false when it was given up before, or came back before. */
  boolean returned() {
    boolean open = state == State.OPEN;
    if (open) {
      state = State.RETURNED;
    }
    return open;
  }

  /** Nothing is recorded from here on. */
  void close() {
    state = State.CLOSED;
    soft.tryComplete();
    onClose.run();
  }

  /** What else is to be done when it is given up, such as an interrupt. */
  void onClose(Runnable task) {
    onClose = task;
  }

  void leak() {
    leaked = true;
  }

  /** Whether its slot was leaked; says so once. */
  boolean takeLeak() {
    boolean was = leaked;
    leaked = false;
    return was;
  }

  /** Tells the handler to end; true the first time. */
  boolean signalSoftLimit() {
    return soft.tryComplete();
  }

  @Nullable Progress latest() {
    return progress.get();
  }

  /** The latest progress if it has not been stored yet. */
  @Nullable Progress unstored() {
    Progress latest = progress.get();
    return latest == null || latest.seq() <= progressStored ? null : latest;
  }

  void stored(long seq) {
    progressStored = seq;
  }

  /** Since when nothing new was heard of it, by the monotonic clock. */
  long silentSince() {
    Progress latest = progress.get();
    return latest == null ? startedNanos : latest.atNanos();
  }

  boolean stalled() {
    return stalled;
  }

  void stalled(boolean now) {
    stalled = now;
  }

  @Override
  public String eventId() {
    return job.id.eventId();
  }

  @Override
  public String consumer() {
    return job.id.consumer();
  }

  @Override
  public String type() {
    return job.lane.type();
  }

  @Override
  public @Nullable String key() {
    return job.key;
  }

  @Override
  public byte[] body() {
    return job.envelope.body();
  }

  @Override
  public Map<String, Object> headers() {
    return job.envelope.headers();
  }

  @Override
  public Map<String, Object> properties() {
    return job.envelope.properties();
  }

  @Override
  public long fence() {
    return ticket.fence();
  }

  @Override
  public int attempt() {
    return ticket.attempt();
  }

  @Override
  public int generation() {
    return ticket.generation();
  }

  @Override
  public Instant softLimitAt() {
    long left = startedNanos + job.lane.softLimit().toNanos() - env.timers().nanos();
    return env.timers().wallClock().plusNanos(left);
  }

  @Override
  public Future<Void> softLimit() {
    return soft.future();
  }

  @Override
  public Future<Void> recordReceipt(Receipt receipt) {
    Promise<Void> done = Promise.promise();
    Runnable store = () -> store(receipt, new Backoff(), done);
    if (env.timers().onContext()) {
      store.run();
    } else {
      env.timers().execute(store);
    }
    return done.future();
  }

  private void store(Receipt receipt, Backoff backoff, Promise<Void> done) {
    if (state != State.OPEN) {
      done.fail(
          new FencepostException(FailureKind.LEASE_LOST, "the run of " + job.id + " is over"));
      return;
    }
    if (job.lane.isEffect()) {
      recorded = receipt; // durable with the transaction, like the effect itself
      done.complete();
      return;
    }
    recording++;
    env.store()
        .recordReceipt(env.owner(), ticket, receipt)
        .onComplete(
            answer -> {
              recording--;
              if (answer.succeeded()) {
                stored(receipt, answer.result(), done);
              } else if (Failures.outage(answer.cause()) || Failures.conflict(answer.cause())) {
                env.timers().after(backoff.next(), () -> store(receipt, backoff, done));
              } else {
                done.fail(answer.cause());
              }
              Runnable waiting = onceRecorded;
              if (recording == 0 && waiting != null) {
                onceRecorded = null;
                waiting.run();
              }
            });
  }

  private void stored(Receipt receipt, boolean held, Promise<Void> done) {
    if (held) {
      recorded = receipt;
      done.complete();
    } else {
      done.fail(new FencepostException(FailureKind.LEASE_LOST, "lease lost: " + job.id));
    }
  }

  @Override
  public void progress(long seq, String phase) {
    long now = env.timers().nanos();
    progress.accumulateAndGet(
        new Progress(seq, phase, now),
        (before, told) -> before == null || told.seq() > before.seq() ? told : before);
  }
}
