package dev.fencepost.relay;

import dev.fencepost.testing.Await;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** What the long tests share: how long, and a steady load meanwhile. */
final class Soak {
  private Soak() {}

  /** Ten minutes, or what {@code -Dfencepost.soak.seconds} says. */
  static Duration duration() {
    return Duration.ofSeconds(Long.getLong("fencepost.soak.seconds", 600));
  }

  /** Returns when that much time has passed. */
  static void pass(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    Await.until(time + " have passed", time.plusSeconds(60), () -> System.nanoTime() - end >= 0);
  }

  /** Does the work again and again, at a fixed rate, on a thread of its own. */
  static final class Steady implements AutoCloseable {
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final ScheduledFuture<?> work;

    Steady(Duration every, Runnable work) {
      this.work = thread.scheduleAtFixedRate(work, 0, every.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Fails when the work has failed. */
    void finish() throws Exception {
      if (!work.cancel(false)) {
        work.get();
      }
      thread.shutdown();
      thread.awaitTermination(60, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
      thread.shutdownNow();
    }
  }
}
