package dev.fencepost.rabbit;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher.Listener;
import dev.fencepost.relay.Publisher.TrustDeadline;
import dev.fencepost.relay.Publisher.Verdict;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * One confirming channel, confined to the context that opened it. Open until {@link #close()} or
 * until {@link Listener#closed}, whichever is first; after that it answers to nothing.
 */
final class ConfirmChannel {

  /** Means the consumer of the channel itself, and ours have none. */
  private static final String DIRECT_REPLY = "amq.rabbitmq.reply-to";

  private final ChannelEnvironment environment;
  private final Listener listener;
  private final ContextInbox<ConfirmWire.Event> inbox;
  private final ConfirmLedger ledger;
  private final List<Verdict> verdicts = new ArrayList<>();
  private final List<ConfirmWire.Event> early = new ArrayList<>();
  private final ExecutorService thread;
  private final SharedConnections.Share share;
  private boolean open = true;
  private long timer = -1;
  private long unblockedAt = System.nanoTime();
  private @Nullable ConfirmWire wire;

  /** What all channels of one publisher have in common. */
  record ChannelEnvironment(
      Vertx vertx,
      Context context,
      BrokerThreads threads,
      WriteWatchdog watchdog,
      Duration confirmTimeout) {}

  private ConfirmChannel(
      ChannelEnvironment environment,
      Listener listener,
      SharedConnections.Share share,
      ExecutorService thread) {
    this.environment = environment;
    this.listener = listener;
    this.share = share;
    this.thread = thread;
    this.inbox =
        new ContextInbox<>(environment.context(), this::handle, this::report, this::broken);
    boolean returnFollowsNack = !share.connection().features().isRabbit();
    this.ledger = new ConfirmLedger(returnFollowsNack, verdicts::add);
  }

  /** Opens a channel on the share's connection; a failure gives the share back. */
  static Future<ConfirmChannel> open(
      ChannelEnvironment environment,
      String name,
      SharedConnections.Share share,
      TrustDeadline trust,
      Listener listener) {
    ExecutorService thread = BrokerThreads.serial("fencepost-publish-" + name);
    ConfirmChannel made = new ConfirmChannel(environment, listener, share, thread);
    return BrokerThreads.call(
            environment.context(),
            thread,
            () -> ConfirmWire.open(share.connection(), trust, made.inbox::post))
        .map(
            attached -> {
              made.wire = attached;
              made.early.forEach(made.inbox::post);
              made.early.clear();
              environment.watchdog().watch(attached.writer(), share.connection());
              return made;
            })
        .recover(
            e -> {
              thread.shutdown();
              return share.abandon(RabbitErrors.of(e, "cannot open a publishing channel"));
            });
  }

  BrokerConnection connection() {
    return share.connection();
  }

  /** Reports a row that is not written at all, in turn with the other verdicts. */
  void refuse(Verdict verdict) {
    inbox.post(new ConfirmWire.Event.Refused(verdict));
  }

  void publish(List<Outgoing> batch) {
    if (!open || batch.isEmpty()) {
      return;
    }
    batch.forEach(ledger::add);
    BatchWriter writer = wire().writer();
    thread.execute(() -> writer.write(batch));
    armTimer();
  }

  /** Completes once the broker has closed it, or the connection was cut because it hung. */
  Future<Void> close() {
    if (!open) {
      return Future.succeededFuture();
    }
    return end();
  }

  private void handle(ConfirmWire.Event event) {
    if (wire == null) {
      early.add(event); // the opener has not been told yet
      return;
    }
    if (!open) {
      return;
    }
    if (event instanceof ConfirmWire.Event.Answer answer) {
      if (answer.ack()) {
        ledger.confirmed(answer.sequence(), answer.multiple());
      } else {
        ledger.nacked(answer.sequence(), answer.multiple(), System.nanoTime());
        armTimerAnew();
      }
    } else if (event instanceof ConfirmWire.Event.Returned returned) {
      ledger.returned(returned.messageId(), returned.detail());
    } else if (event instanceof ConfirmWire.Event.Refused refused) {
      verdicts.add(refused.verdict());
    } else if (event instanceof ConfirmWire.Event.Blocked blocked) {
      report();
      unblockedAt = System.nanoTime();
      listener.blocked(blocked.reason() != null, Objects.requireNonNullElse(blocked.reason(), ""));
    } else if (event instanceof ConfirmWire.Event.Closed closed) {
      fail(closed.cause(), refusal(closed.replyCode()));
    }
  }

  private @Nullable ParkedReason refusal(int replyCode) {
    if (ledger.oldest() == null) {
      return null; // whatever it was, it was nothing of ours
    }
    String user = share.connection().uri().login().user();
    return RabbitErrors.refusal(
        replyCode,
        ledger.anyUnanswered(
            m ->
                (m.properties.getUserId() != null && !user.equals(m.properties.getUserId()))
                    || DIRECT_REPLY.equals(m.properties.getReplyTo())));
  }

  private void fail(FencepostException cause, @Nullable ParkedReason refusal) {
    report();
    end();
    listener.closed(cause, refusal);
  }

  private void report() {
    if (open && !verdicts.isEmpty()) {
      List<Verdict> batch = List.copyOf(verdicts);
      verdicts.clear();
      listener.settled(batch);
    }
  }

  /** A nack that is held is due sooner than the next look at overdue confirms. */
  private void armTimerAnew() {
    if (ledger.holdsNacks()) {
      environment.vertx().cancelTimer(timer);
      timer = -1;
      armTimer();
    }
  }

  private void armTimer() {
    if (timer < 0 && open) {
      long tick =
          ledger.holdsNacks()
              ? ConfirmLedger.NACK_GRACE_NANOS / 1_000_000 + 1
              : Math.max(10, Math.min(1_000, environment.confirmTimeout().toMillis() / 4));
      timer = environment.vertx().setTimer(tick, id -> guardedTick());
    }
  }

  private void guardedTick() {
    try {
      tick();
    } catch (Throwable fault) {
      broken(fault);
    }
  }

  /** A fault of ours: what was answered may be lost with it, so all that is out is unsettled. */
  private void broken(Throwable fault) {
    if (open && wire != null) {
      verdicts.clear();
      fail(
          new FencepostException(
              FailureKind.INTERNAL, "publishing channel failed: " + fault, fault),
          null);
    }
  }

  private void tick() {
    timer = -1;
    if (!open) {
      return;
    }
    long now = System.nanoTime();
    ledger.expire(now);
    report();
    Outgoing oldest = ledger.oldest();
    if (oldest != null && overdue(oldest, now)) {
      timedOut(oldest, now);
    } else if (oldest != null || ledger.holdsNacks()) {
      armTimer();
    }
  }

  /** Neighbours may be well: the connection is cut only when our own writer hangs in it. */
  private void timedOut(Outgoing message, long now) {
    FencepostException cause =
        new FencepostException(
            FailureKind.TIMEOUT,
            "no confirm within "
                + environment.confirmTimeout().toMillis()
                + " ms for event "
                + message.messageId);
    share.retire();
    if (wire().writer().hangs(now)) {
      environment.threads().run(() -> share.connection().kill(cause));
    }
    fail(cause, null);
  }

  /** A blocked broker owes nothing; its clock starts again when it is unblocked. */
  private boolean overdue(Outgoing message, long now) {
    long written = message.writtenAt;
    if (written == 0 || share.connection().blockedReason() != null) {
      return false;
    }
    long since = unblockedAt - written > 0 ? unblockedAt : written;
    return now - since > environment.confirmTimeout().toNanos();
  }

  private Future<Void> end() {
    open = false;
    if (timer >= 0) {
      environment.vertx().cancelTimer(timer);
    }
    ConfirmWire opened = wire();
    opened.detach();
    Future<Void> ended =
        new ChannelCloser(environment.threads(), share, thread)
            .close(environment.context(), opened.channel(), opened.writer());
    thread.shutdown();
    return ended.eventually(
        () -> {
          environment.watchdog().forget(opened.writer());
          return Future.succeededFuture();
        });
  }

  private ConfirmWire wire() {
    return Objects.requireNonNull(wire, "not open yet");
  }
}
