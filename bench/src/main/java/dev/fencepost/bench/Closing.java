package dev.fencepost.bench;

import java.util.List;

/** Closes all of several things, whatever becomes of each. */
final class Closing {

  private Closing() {}

  /** In order; throws at the end when something could not be closed. */
  static void all(List<? extends AutoCloseable> things) {
    IllegalStateException failure = new IllegalStateException("not everything could be closed");
    all(things, failure);
    if (failure.getSuppressed().length > 0) {
      throw failure;
    }
  }

  /** The same after a failure, to which what goes wrong is attached. */
  static void all(List<? extends AutoCloseable> things, Throwable failure) {
    for (AutoCloseable thing : things) {
      try {
        thing.close();
      } catch (Exception e) {
        failure.addSuppressed(e);
      }
    }
  }
}
