package dev.fencepost.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether anything may be started now: not while the event loop lags (a lease claimed then may be
 * gone before its handler is invoked), not beside a suspect, not while stopping.
 */
final class Admission {
  private static final Logger LOG = LoggerFactory.getLogger(Admission.class);
  static final Duration CHECK_EVERY = Duration.ofMillis(100);

  /** While nothing is in hand. */
  static final Duration CHECK_IDLE = Duration.ofMillis(250);

  static final Duration LAG_ALLOWED = Duration.ofMillis(250);

  private final List<Runnable> onOpen = new ArrayList<>();
  private Runnable closer = () -> {};
  private boolean lagging;
  private boolean exclusive;
  private boolean stopped;
  private volatile @Nullable String databaseAway;

  /** Called whenever it opens again. */
  void onOpen(Runnable dispatch) {
    onOpen.add(dispatch);
  }

  boolean open() {
    return !lagging && !exclusive && !stopped;
  }

  boolean stopped() {
    return stopped;
  }

  void stop() {
    stopped = true;
  }

  /** Whether the database answers; from any thread. */
  @Nullable String databaseAway() {
    return databaseAway;
  }

  /** It answered, or failed with this. */
  void database(@Nullable Throwable failure) {
    databaseAway = failure != null && Failures.outage(failure) ? failure.getMessage() : null;
  }

  /** A suspect is to run alone. */
  void exclusive(boolean on) {
    exclusive = on;
    tellWhenOpen();
  }

  /**
   * Measures how late a timer fires, for ever; less often while nothing is in hand.
   *
   * @param inHand whether there is anything that a lag could harm
   */
  void watchLag(Timers timers, BooleanSupplier inHand) {
    if (lagging || inHand.getAsBoolean()) {
      check(timers, inHand, CHECK_EVERY);
      closer = () -> {};
    } else {
      long now = timers.nanos();
      Duration every = Beat.untilWhole(timers, CHECK_IDLE);
      Timers.Timer timer = check(timers, inHand, every);
      closer = () -> closer(timers, inHand, timer, now + every.toNanos());
    }
  }

  private Timers.Timer check(Timers timers, BooleanSupplier inHand, Duration every) {
    long due = timers.nanos() + every.toNanos();
    return timers.after(
        every,
        () -> {
          lag(timers.nanos() - due);
          if (!stopped) {
            watchLag(timers, inHand);
          }
        });
  }

  private void closer(Timers timers, BooleanSupplier inHand, Timers.Timer timer, long due) {
    if (!stopped) {
      timer.cancel();
      lag(timers.nanos() - due);
      check(timers, inHand, CHECK_EVERY);
      closer = () -> {};
    }
  }

  /** Something comes in: a check that is overdue counts now, the next ones come often. */
  void watchClosely() {
    closer.run();
  }

  private void lag(long nanos) {
    boolean before = lagging;
    lagging = nanos > LAG_ALLOWED.toNanos();
    if (lagging && !before) {
      LOG.warn("the event loop lags by {} ms: nothing is started", nanos / 1_000_000);
    }
    if (before) {
      tellWhenOpen();
    }
  }

  private void tellWhenOpen() {
    if (open()) {
      onOpen.forEach(Runnable::run);
    }
  }
}
