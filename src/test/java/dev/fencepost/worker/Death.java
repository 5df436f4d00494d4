package dev.fencepost.worker;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sends this very process a signal when it comes to a stage for the first time once it is armed.
 */
final class Death {
  private final Stage stage;
  private final String signal;
  private final AtomicBoolean done = new AtomicBoolean();
  private volatile boolean armed;

  /**
   * @param signal KILL, or STOP (the process goes on from the same place after a CONT)
   */
  Death(Stage stage, String signal) {
    this.stage = stage;
    this.signal = signal;
  }

  void arm() {
    armed = true;
  }

  void at(Stage reached) {
    if (!armed || reached != stage || !done.compareAndSet(false, true)) {
      return;
    }
    try {
      long pid = ProcessHandle.current().pid();
      System.out.println(signal + " at " + stage);
      System.out.flush();
      new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
      if (signal.equals("KILL")) {
        new CountDownLatch(1).await(); // not one instruction more
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
