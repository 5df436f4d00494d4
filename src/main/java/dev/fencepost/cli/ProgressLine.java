package dev.fencepost.cli;

import dev.fencepost.operations.Progress;
import java.io.PrintWriter;

/** One line that grows on a terminal; nothing in a pipe. */
final class ProgressLine implements Progress, AutoCloseable {
  private static final long EVERY_NANOS = 100_000_000;

  private final PrintWriter err;
  private final String verb;
  private final boolean terminal;
  private long shownAt = System.nanoTime() - EVERY_NANOS;
  private boolean shown;

  ProgressLine(PrintWriter err, String verb, boolean terminal) {
    this.err = err;
    this.verb = verb;
    this.terminal = terminal;
  }

  /** Shown while a person is watching. */
  static ProgressLine of(PrintWriter err, String verb) {
    return new ProgressLine(err, verb, Terminal.watched());
  }

  @Override
  public void done(long items) {
    long now = System.nanoTime();
    if (terminal && now - shownAt >= EVERY_NANOS) {
      shownAt = now;
      shown = true;
      err.print("\r" + verb + " " + items + " …\u001b[K");
      err.flush();
    }
  }

  /** Takes the line away, once: what comes after it is a result. */
  @Override
  public void close() {
    if (shown) {
      shown = false;
      err.print("\r\u001b[K");
      err.flush();
    }
  }
}
