package dev.fencepost.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;

/** Time that a test moves by hand; tasks run on the caller's thread, in order of their time. */
public final class VirtualTimers implements Timers {
  private record Task(long at, long order, Runnable runnable, boolean[] cancelled) {}

  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::order));
  private final ArrayDeque<Runnable> soon = new ArrayDeque<>();
  private long now = 1_000_000_000_000L;
  private long order;

  /** Timers that have been set. */
  public int set;

  /** Instants at which something was to run. */
  public int wakeUps;

  /** By how much the process's clock is wrong. */
  public volatile Duration clockError = Duration.ZERO;

  @Override
  public synchronized long nanos() {
    return now;
  }

  @Override
  public Instant wallClock() {
    return Instant.EPOCH.plusNanos(now).plus(clockError);
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    boolean[] cancelled = {false};
    set++;
    tasks.add(new Task(now + delay.toNanos(), order++, task, cancelled));
    return () -> cancelled[0] = true;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (soon) {
      soon.add(task);
    }
  }

  @Override
  public boolean onContext() {
    return true;
  }

  /** Runs what is to run soon, at the same instant. */
  public void settle() {
    Runnable next = pollSoon();
    while (next != null) {
      next.run();
      next = pollSoon();
    }
  }

  private Runnable pollSoon() {
    synchronized (soon) {
      return soon.poll();
    }
  }

  /** Moves time on, running everything that falls due on the way. */
  public void advance(Duration by) {
    settle();
    long until = now + by.toNanos();
    while (!tasks.isEmpty() && tasks.peek().at() <= until) {
      Task task = tasks.remove();
      synchronized (this) {
        wakeUps += !task.cancelled()[0] && task.at() > now ? 1 : 0;
        now = Math.max(now, task.at());
      }
      if (!task.cancelled()[0]) {
        task.runnable().run();
        settle();
      }
    }
    synchronized (this) {
      now = until;
    }
    settle();
  }

  /** As if the process had been stopped: time passes and nothing runs. */
  public synchronized void sleepThrough(Duration by) {
    now += by.toNanos();
  }
}
