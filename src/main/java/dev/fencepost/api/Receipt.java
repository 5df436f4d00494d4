package dev.fencepost.api;

import dev.fencepost.model.ReceiptOutcome;
import org.jspecify.annotations.Nullable;

/**
 * The durable evidence that an event's work has ended.
 *
 * @param body what the handler wants to be found again, such as the remote's reference, or null
 */
public record Receipt(ReceiptOutcome outcome, @Nullable String body) {

  private static final Receipt DONE = new Receipt(ReceiptOutcome.SUCCEEDED, null);

  /** It happened. */
  public static Receipt succeeded() {
    return DONE;
  }

  /** It happened, with a reference. */
  public static Receipt succeeded(@Nullable String body) {
    return new Receipt(ReceiptOutcome.SUCCEEDED, body);
  }

  /** It will never happen: the event becomes a dead letter with reason permanent_failure. */
  public static Receipt failedPermanently(@Nullable String body) {
    return new Receipt(ReceiptOutcome.FAILED_PERMANENT, body);
  }
}
