package dev.fencepost.operations;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list.
 *
 * @param next what to ask for as {@code after} to go on; null on the last page
 */
public record Page<T>(List<T> items, @Nullable String next) {

  /** Which page: at most {@code limit} items after a cursor. */
  public record Request(int limit, @Nullable String after) {
    public static final int MAX = 1000;

    public Request {
      if (limit < 1 || limit > MAX) {
        throw Input.refused("limit", Integer.toString(limit), "1 to " + MAX);
      }
    }

    public static Request first(int limit) {
      return new Request(limit, null);
    }
  }
}
