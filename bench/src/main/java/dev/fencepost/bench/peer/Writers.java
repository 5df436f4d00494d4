package dev.fencepost.bench.peer;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Threads that write one event a transaction at a fixed rate. */
public final class Writers {

  private static final int THREADS = 8;

  /** One thread's way to commit events. */
  public interface Writer extends AutoCloseable {
    /** Returns once the event with this number is committed. */
    void commit(int event) throws Exception;
  }

  /** Makes a writer for a thread. */
  public interface Factory {
    /** Called by the thread itself. */
    Writer writer() throws Exception;
  }

  private final AtomicLongArray committed;
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private final int rate;
  private final Factory factory;

  private Writers(int events, int rate, Factory factory) {
    this.committed = new AtomicLongArray(events);
    this.rate = rate;
    this.factory = factory;
  }

  /**
   * The moments at which the commits of the events returned, by {@link System#nanoTime()}: on Linux
   * it is one clock for all processes.
   */
  public static long[] run(int events, int rate, Factory factory) throws InterruptedException {
    return new Writers(events, rate, factory).run();
  }

  private long[] run() throws InterruptedException {
    long start = System.nanoTime();
    Thread[] writers = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      int first = i;
      writers[i] = new Thread(() -> write(start, first), "writer-" + i);
      writers[i].start();
    }
    for (Thread writer : writers) {
      writer.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException(failure.get());
    }
    long[] moments = new long[committed.length()];
    for (int i = 0; i < moments.length; i++) {
      moments[i] = committed.get(i);
    }
    return moments;
  }

  private void write(long start, int first) {
    try (Writer writer = factory.writer()) {
      for (int event = first; event < committed.length(); event += THREADS) {
        long due = start + event * 1_000_000_000L / rate;
        for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
          LockSupport.parkNanos(due - now);
        }
        writer.commit(event);
        committed.set(event, System.nanoTime());
      }
    } catch (Exception e) {
      failure.compareAndSet(null, e);
    }
  }
}
