package dev.fencepost.operations;

import org.jspecify.annotations.Nullable;

/**
 * An operator's decision about an activity in review.
 *
 * @param evidence how the operator knows
 * @param fence the fence the decision was made on: refused with STALE when it is no longer the
 *     activity's; null decides on whatever it is now
 */
public record ReviewRequest(
    String consumer,
    String eventId,
    Decision decision,
    String operator,
    String evidence,
    @Nullable Long fence) {

  /** What the operator found out. */
  public enum Decision {
    /** It happened: a receipt is recorded, the activity is completed. */
    SUCCEEDED,
    /** It did not and must not happen: a dead letter {@code permanent_failure}. */
    FAILED,
    /** It did not happen and may be started once more, even at the limit of attempts. */
    RETRY
  }

  public ReviewRequest {
    Input.name("consumer", consumer);
    Input.name("event_id", eventId);
    Input.required("operator", operator, 200);
    Input.required("evidence", evidence, 10_000);
  }

  /** From what an operator entered. */
  public static ReviewRequest of(
      String consumer,
      String eventId,
      @Nullable String as,
      @Nullable String operator,
      @Nullable String evidence,
      @Nullable Long fence) {
    return new ReviewRequest(
        consumer,
        eventId,
        Input.requiredChoice("as", as, Decision.class),
        Input.required("operator", operator, 200),
        Input.required("evidence", evidence, 10_000),
        fence);
  }
}
