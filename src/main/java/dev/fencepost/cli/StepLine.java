package dev.fencepost.cli;

import java.io.PrintWriter;

/** One line that is written over again: on a terminal only, nothing in a pipe. */
final class StepLine {

  private static final String ERASE = "\r\u001b[K";

  private final PrintWriter err;
  private final boolean terminal = Terminal.watched();

  StepLine(PrintWriter err) {
    this.err = err;
  }

  /**
   * @param all 0 where there is nothing to count
   */
  void show(String step, long done, long all) {
    if (terminal) {
      err.print(ERASE + step + (all == 0 ? " …" : " " + done + " of " + all));
      err.flush();
    }
  }

  void clear() {
    if (terminal) {
      err.print(ERASE);
      err.flush();
    }
  }
}
