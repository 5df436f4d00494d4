package dev.fencepost.rabbit;

import dev.fencepost.model.ParkedReason;

/** A row that may not be written; thrown and caught within this room, so without a stack trace. */
final class RefusedRow extends Exception {
  private static final long serialVersionUID = 1L;

  private final ParkedReason reason;

  RefusedRow(ParkedReason reason, String detail) {
    super(detail, null, false, false);
    this.reason = reason;
  }

  static RefusedRow property(String detail) {
    return new RefusedRow(ParkedReason.INVALID_PROPERTY, detail);
  }

  ParkedReason reason() {
    return reason;
  }

  String detail() {
    return String.valueOf(getMessage());
  }
}
