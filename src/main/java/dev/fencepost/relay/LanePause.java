package dev.fencepost.relay;

import dev.fencepost.model.LagCause;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once that a lane pauses, and once that it goes on. */
final class LanePause {
  private static final Logger LOG = LoggerFactory.getLogger(LanePause.class);

  private final int lane;
  private LagCause cause = LagCause.NONE;
  private long since;

  LanePause(int lane) {
    this.lane = lane;
  }

  /** Looks at why nothing can be published now. */
  void observe(LagCause now, @Nullable String detail) {
    if (now == cause) {
      return;
    }
    if (stops(now)) {
      if (!stops(cause)) {
        since = System.nanoTime();
      }
      LOG.warn("lane {} pauses cause={} detail={}", lane, now.wire(), detail);
    } else if (stops(cause)) {
      Duration paused = Duration.ofNanos(System.nanoTime() - since);
      LOG.info("lane {} goes on after {} ms cause={}", lane, paused.toMillis(), cause.wire());
    }
    cause = now;
  }

  private static boolean stops(LagCause cause) {
    return cause == LagCause.BROKER_DOWN
        || cause == LagCause.BROKER_BLOCKED
        || cause == LagCause.PARKED_FULL;
  }
}
