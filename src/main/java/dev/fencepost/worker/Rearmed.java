package dev.fencepost.worker;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A loop's timer: fires once, and is armed again when the tick has settled, so that ticks of one
 * loop never overlap. The loop goes on after a tick that fails; the first of several that fail
 * alike is logged.
 *
 * <p>A loop that has nothing to look at rests: it has no timer until it is roused.
 */
final class Rearmed {
  private static final Logger LOG = LoggerFactory.getLogger(Rearmed.class);

  /** A pause until {@link #rouse} or {@link #wake}. */
  static final Duration REST = Duration.ofSeconds(Long.MAX_VALUE);

  private final String name;
  private final Timers timers;
  private final Supplier<Future<Void>> tick;
  private final Supplier<Duration> pause;
  private Timers.@Nullable Timer timer;
  private boolean running;
  private boolean wanted;
  private boolean resting;
  private boolean woken;
  private boolean stopped;
  private @Nullable String failing;

  Rearmed(String name, Timers timers, Supplier<Future<Void>> tick, Supplier<Duration> pause) {
    this.name = name;
    this.timers = timers;
    this.tick = tick;
    this.pause = pause;
  }

  void start() {
    arm(pause.get());
  }

  /** A tick as soon as the one that runs has settled. */
  void wake() {
    if (running) {
      wanted = true;
    } else if (!woken && (timer != null || resting)) {
      arm(Duration.ZERO);
      woken = true; // whoever else wakes it does not put that off
    }
  }

  /** A tick now, unless one runs. */
  void nudge() {
    if (!running) {
      wake();
    }
  }

  /** There may be something to look at again; changes nothing where a timer runs. */
  void rouse() {
    if (resting) {
      arm(pause.get());
    }
  }

  /** Asks anew how long to pause, unless it has been woken. */
  void rearm() {
    if (!woken && (timer != null || resting)) {
      arm(pause.get());
    }
  }

  void stop() {
    stopped = true;
    resting = false;
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  private void arm(Duration delay) {
    woken = false;
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
    resting = !stopped && delay.equals(REST);
    if (!stopped && !resting) {
      timer = timers.after(delay, this::fire);
    }
  }

  private void fire() {
    timer = null;
    running = true;
    wanted = false;
    Guarded.call(tick::get)
        .onComplete(
            done -> {
              running = false;
              report(done.cause());
              boolean again = wanted && done.succeeded();
              arm(again ? Duration.ZERO : pause.get());
              woken = again && timer != null; // not put off, as after a wake
            });
  }

  private void report(@Nullable Throwable failure) {
    String now = failure == null ? null : failure.toString();
    if (now != null && !now.equals(failing)) {
      LOG.warn("{}: {}", name, now);
    }
    failing = now;
  }
}
