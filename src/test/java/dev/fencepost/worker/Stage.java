package dev.fencepost.worker;

import java.util.Locale;

/** Where a process may die, as in spec/death-matrix.csv. */
enum Stage {
  NONE,
  BEFORE_CLAIM,
  AFTER_CLAIM,
  BEFORE_REMOTE_CALL,
  AFTER_REMOTE_CALL,
  BEFORE_RECEIPT_WRITE,
  AFTER_RECEIPT_WRITE,
  BEFORE_COMPLETION_COMMIT,
  AFTER_COMPLETION_COMMIT,
  BEFORE_COMMIT,
  AFTER_COMMIT_BEFORE_ACK;

  static Stage of(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
