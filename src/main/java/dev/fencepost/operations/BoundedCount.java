package dev.fencepost.operations;

/**
 * A count that stops early, so that asking costs the same however many there are.
 *
 * @param more there are more than {@code value}
 */
public record BoundedCount(long value, boolean more) {

  /** Where counting stops. */
  public static final int BOUND = 10_000;

  /** From the number of rows found by a statement with {@code limit BOUND + 1}. */
  public static BoundedCount ofFound(long found) {
    return found > BOUND ? new BoundedCount(BOUND, true) : new BoundedCount(found, false);
  }

  @Override
  public String toString() {
    return more ? value + "+" : Long.toString(value);
  }
}
