package dev.fencepost.relay;

import dev.fencepost.decide.RefusalPolicy;
import dev.fencepost.flow.Attempt;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lane's publishing channel, always on its way to being open: closed → opening → open, and back
 * with a growing pause after each fault. A fault costs no row anything.
 */
final class LaneChannel {
  private static final Logger LOG = LoggerFactory.getLogger(LaneChannel.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  private final Vertx vertx;
  private final Publisher publisher;
  private final String name;
  private final Publisher.TrustDeadline trust;
  private final Owner owner;

  private Publisher.@Nullable PublishChannel open;
  private boolean opening;
  private boolean stopped;
  private @Nullable String blocked;
  private @Nullable FencepostException fault;
  private int faults;

  /** Whom the channel serves. */
  interface Owner {
    void settled(List<Publisher.Verdict> verdicts);

    /** Open, or no longer blocked. */
    void usable();

    /** Not to be used for a while: see {@link LaneChannel#cause}. */
    void halted();

    /**
     * @param refusal as in {@link Publisher.Listener#closed}
     */
    void gone(FencepostException cause, @Nullable ParkedReason refusal);

    /** Runs a step; where it fails, the lane is void. */
    void guarded(Runnable step);
  }

  LaneChannel(
      Vertx vertx, Publisher publisher, String name, Publisher.TrustDeadline trust, Owner owner) {
    this.vertx = vertx;
    this.publisher = publisher;
    this.name = name;
    this.trust = trust;
    this.owner = owner;
  }

  boolean usable() {
    return open != null && blocked == null;
  }

  /** Why nothing can be published, as people are told; NONE when it can. */
  LagCause cause() {
    if (blocked != null) {
      return LagCause.BROKER_BLOCKED;
    }
    return open == null && fault != null ? LagCause.BROKER_DOWN : LagCause.NONE;
  }

  @Nullable String detail() {
    return blocked != null ? blocked : open == null && fault != null ? fault.getMessage() : null;
  }

  void publish(List<OutboxRow> rows) {
    if (open != null) {
      open.publish(rows);
    }
  }

  /** Opens it, and goes on trying. */
  void start() {
    if (stopped || opening || open != null) {
      return;
    }
    opening = true;
    Attempt.of(() -> publisher.open(name, trust, new Listening()))
        .onComplete(result -> owner.guarded(() -> opened(result)));
  }

  private void opened(AsyncResult<Publisher.PublishChannel> result) {
    opening = false;
    if (result.failed()) {
      failed(result.cause());
    } else if (stopped) {
      result.result().close();
    } else {
      open = result.result();
      fault = null;
      owner.usable();
    }
  }

  /** It works: the next fault is the first again. */
  void proven() {
    faults = 0;
  }

  private void failed(Throwable cause) {
    fault =
        cause instanceof FencepostException known
            ? known
            : new FencepostException(FailureKind.INTERNAL, String.valueOf(cause), cause);
    Duration pause = RefusalPolicy.backoff(++faults, FIRST_PAUSE, LONGEST_PAUSE);
    LOG.debug("{}: {}; again in {} ms", name, fault.getMessage(), pause.toMillis());
    if (!stopped) {
      vertx.setTimer(Math.max(1, pause.toMillis()), id -> owner.guarded(this::start));
      owner.halted();
    }
  }

  Future<Void> stop() {
    stopped = true;
    Publisher.PublishChannel channel = open;
    open = null;
    return channel == null ? Future.succeededFuture() : channel.close();
  }

  private final class Listening implements Publisher.Listener {
    @Override
    public void settled(List<Publisher.Verdict> verdicts) {
      if (!stopped) {
        owner.guarded(() -> owner.settled(verdicts));
      }
    }

    @Override
    public void blocked(boolean now, String reason) {
      owner.guarded(() -> changed(now, reason));
    }

    private void changed(boolean now, String reason) {
      blocked = now ? reason : null;
      if (now && !stopped) {
        owner.halted();
      } else if (usable() && !stopped) {
        owner.usable();
      }
    }

    @Override
    public void closed(FencepostException cause, @Nullable ParkedReason refusal) {
      owner.guarded(() -> gone(cause, refusal));
    }

    private void gone(FencepostException cause, @Nullable ParkedReason refusal) {
      open = null;
      blocked = null;
      if (stopped) {
        return;
      }
      if (refusal == null) {
        failed(cause);
      }
      owner.gone(cause, refusal);
      if (refusal != null) {
        start();
      }
    }
  }
}
