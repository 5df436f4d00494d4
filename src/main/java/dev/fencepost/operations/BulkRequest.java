package dev.fencepost.operations;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters, and how.
 *
 * @param ids when not empty these and nothing else; otherwise the open ones that pass the filter
 * @param all with neither ids nor filter: every open one is meant, and that was no slip
 * @param who may be null for a dry run only
 */
public record BulkRequest(
    List<Long> ids, DeadLetterFilter filter, boolean all, @Nullable Who who, Pace pace) {

  /**
   * @param ratePerSecond how many to start in a second; 0 for as fast as it goes
   * @param max how many at most
   */
  public record Pace(boolean dryRun, int ratePerSecond, int max) {
    /** As many as one request may touch. */
    public static final int ALL = 1_000_000;

    public Pace {
      if (ratePerSecond < 0) {
        throw Input.refused("rate", Integer.toString(ratePerSecond), "1 or more per second");
      }
      if (max < 1 || max > ALL) {
        throw Input.refused("limit", Integer.toString(max), "1 to " + ALL);
      }
    }
  }

  public BulkRequest {
    ids = ids.stream().distinct().toList();
    if (!ids.isEmpty() && !filter.isOpen()) {
      throw new FencepostException(FailureKind.INVALID_INPUT, "ids: use ids or a filter, not both");
    }
    if (ids.isEmpty() && filter.isOpen() && !all && !pace.dryRun()) {
      throw new FencepostException(
          FailureKind.INVALID_INPUT,
          "all: is missing; give ids or a filter, or say that all are meant");
    }
    if (who == null && !pace.dryRun()) {
      throw new FencepostException(
          FailureKind.INVALID_INPUT, "operator: is missing; say who decides this");
    }
    if (who != null) {
      Input.required("operator", who.operator(), 200);
    }
  }
}
