package dev.fencepost.cli;

import java.io.PrintWriter;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Shows for how long a step has gone on: what may take an hour must not look dead. */
final class Elapsed implements AutoCloseable {
  private final StepLine line;
  private final String step;
  private final long begun = System.nanoTime();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "fencepost-elapsed");
            thread.setDaemon(true);
            return thread;
          });

  Elapsed(PrintWriter err, String step) {
    this.line = new StepLine(err);
    this.step = step;
    show();
    clock.scheduleWithFixedDelay(this::show, 1, 1, TimeUnit.SECONDS);
  }

  private void show() {
    line.show(step + ", " + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun) + " s", 0, 0);
  }

  @Override
  public void close() {
    clock.shutdownNow();
    line.clear();
  }
}
