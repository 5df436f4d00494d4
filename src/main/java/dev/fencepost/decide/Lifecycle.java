package dev.fencepost.decide;

import dev.fencepost.model.ActivityState;
import java.util.EnumSet;
import java.util.Set;

/**
 * Which state may follow which, and by whose hand. What is in review stays there until a person
 * decides; what has ended stays so until a person redrives it.
 */
public final class Lifecycle {
  /** Whose hand moves an activity. */
  public enum Mover {
    /** The owner that claimed it, by owner and fence. */
    OWNER,
    /** Loops and deliveries: redelivery, sweep, due retries, release of a key, late settles. */
    BACKGROUND,
    /** A person, with evidence. */
    OPERATOR
  }

  private Lifecycle() {}

  /** The states that may follow {@code from}; without {@code from} itself. */
  public static Set<ActivityState> next(ActivityState from, Mover mover) {
    return switch (mover) {
      case OWNER -> owner(from);
      case BACKGROUND -> background(from);
      case OPERATOR -> operator(from);
    };
  }

  /** Whether nothing more happens to it by itself. */
  public static boolean terminal(ActivityState state) {
    return state == ActivityState.COMPLETED || state == ActivityState.DEAD;
  }

  private static Set<ActivityState> owner(ActivityState from) {
    return from == ActivityState.RUNNING
        ? EnumSet.of(
            ActivityState.COMPLETED,
            ActivityState.DEAD,
            ActivityState.RETRY_SCHEDULED,
            ActivityState.MANUAL_REVIEW)
        : EnumSet.noneOf(ActivityState.class);
  }

  private static Set<ActivityState> background(ActivityState from) {
    return switch (from) {
      case RUNNING -> owner(from);
      case RETRY_SCHEDULED -> EnumSet.of(ActivityState.RUNNING, ActivityState.DEAD);
      case BLOCKED -> EnumSet.of(ActivityState.RETRY_SCHEDULED, ActivityState.RUNNING);
      // Once its type is known it runs; past the cap it is poison.
      case UNRESOLVED ->
          EnumSet.of(ActivityState.RUNNING, ActivityState.RETRY_SCHEDULED, ActivityState.DEAD);
      case COMPLETED, DEAD, MANUAL_REVIEW -> EnumSet.noneOf(ActivityState.class);
    };
  }

  private static Set<ActivityState> operator(ActivityState from) {
    return switch (from) {
      case MANUAL_REVIEW ->
          EnumSet.of(ActivityState.COMPLETED, ActivityState.DEAD, ActivityState.RETRY_SCHEDULED);
      case DEAD -> EnumSet.of(ActivityState.RETRY_SCHEDULED);
      default -> EnumSet.noneOf(ActivityState.class);
    };
  }
}
