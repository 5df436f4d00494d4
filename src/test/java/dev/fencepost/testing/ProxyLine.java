package dev.fencepost.testing;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** What one direction of a proxy does to the bytes that pass. */
final class ProxyLine {

  private boolean frozen;
  private long delayNanos;
  private long bytesPerSecond;

  synchronized void freeze(boolean on) {
    frozen = on;
    notifyAll();
  }

  synchronized void delay(Duration delay) {
    delayNanos = delay.toNanos();
  }

  synchronized void throttle(long rate) {
    bytesPerSecond = rate;
  }

  /** Blocks until bytes that were read at {@code readAt} (nanoseconds) may be written. */
  synchronized void pass(long readAt, int bytes) throws InterruptedException {
    long due = readAt + delayNanos;
    if (bytesPerSecond > 0) {
      due = Math.max(due, System.nanoTime() + bytes * 1_000_000_000L / bytesPerSecond);
    }
    long left = due - System.nanoTime();
    while (frozen || left > 0) {
      if (frozen) {
        wait();
      } else {
        wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
      }
      left = due - System.nanoTime();
    }
  }
}
