package dev.fencepost.testing;

import java.time.Duration;

/** A server of the test's own: what can be done to its process, or is refused where it has none. */
abstract class OwnServer implements AutoCloseable {
  private final boolean outside;
  private ServerProcess process;
  private boolean paused;

  /**
   * @param outside somebody else runs it
   */
  OwnServer(boolean outside) {
    this.outside = outside;
  }

  /** Starts its process; {@link #await} says when it is ready. */
  abstract ServerProcess launchProcess();

  /** Returns when it answers. */
  abstract void awaitReady(ServerProcess started);

  /** How it is asked to shut down in order, and how long that may take. */
  abstract Shutdown shutdown();

  /** What to say when something is refused on a server of somebody else. */
  abstract String notOwn();

  record Shutdown(String signal, Duration deadline) {}

  final void launch() {
    process = launchProcess();
    awaitReady(process);
  }

  /** Shuts down in order. */
  public void stop() {
    own("stop");
    resume();
    process.signal(shutdown().signal());
    process.awaitExit(shutdown().deadline());
  }

  /** SIGKILL: what was not durable is lost. */
  public void kill() {
    own("kill");
    killProcess();
  }

  /** SIGSTOP: connections stay open and silent. */
  public void pause() {
    own("pause");
    process.pause();
    paused = true;
  }

  /** Undoes {@link #pause()}. */
  public void resume() {
    own("resume");
    if (paused) {
      process.resume();
      paused = false;
    }
  }

  /** Starts it again on the same port and data, after a stop or kill, or stops it first. */
  public void restart() {
    own("restart");
    if (process.isAlive()) {
      stop();
    }
    launch();
  }

  public boolean isRunning() {
    return outside || process.isAlive();
  }

  void ensureRunning() {
    if (!outside) {
      resume();
      if (!process.isAlive()) {
        launch();
      }
    }
  }

  final boolean outside() {
    return outside;
  }

  final boolean paused() {
    return paused;
  }

  final void killProcess() {
    paused = false;
    process.kill();
  }

  final void own(String operation) {
    if (outside) {
      throw new IllegalStateException(operation + " is refused on " + notOwn());
    }
  }
}
