package dev.fencepost.decide;

import java.util.Arrays;

/**
 * A snapshot of PostgreSQL ({@code pg_current_snapshot()}) as bigint arithmetic: a transaction is
 * visible in it when it lies below {@code xmax} and is not among those that were running.
 */
public final class Snapshot {
  private final long xmin;
  private final long xmax;
  private final long[] xip;

  private Snapshot(long xmin, long xmax, long[] xip) {
    this.xmin = xmin;
    this.xmax = xmax;
    this.xip = xip;
  }

  /**
   * Of its parts.
   *
   * @param xip running transactions, in any order
   */
  public static Snapshot of(long xmax, long... xip) {
    long[] sorted = xip.clone();
    Arrays.sort(sorted);
    return new Snapshot(sorted.length == 0 ? xmax : Math.min(sorted[0], xmax), xmax, sorted);
  }

  /**
   * Reads PostgreSQL's text form, {@code xmin:xmax:xip,xip}.
   *
   * @throws IllegalArgumentException when it is none
   */
  public static Snapshot parse(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length != 3) {
      throw new IllegalArgumentException("not a snapshot: " + text);
    }
    long[] xip =
        parts[2].isEmpty()
            ? new long[0]
            : Arrays.stream(parts[2].split(",", -1)).mapToLong(Long::parseLong).toArray();
    Arrays.sort(xip);
    return new Snapshot(Long.parseLong(parts[0]), Long.parseLong(parts[1]), xip);
  }

  public long xmax() {
    return xmax;
  }

  /** The transactions that were running, ascending. */
  public long[] xip() {
    return xip.clone();
  }

  /** Whether it lists {@code tx} as running. */
  public boolean lists(long tx) {
    return Arrays.binarySearch(xip, tx) >= 0;
  }

  /** Whether {@code tx} had ended: its rows, if it committed, are visible. */
  public boolean sees(long tx) {
    return tx < xmax && !lists(tx);
  }

  /** PostgreSQL's text form. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder().append(xmin).append(':').append(xmax).append(':');
    for (int i = 0; i < xip.length; i++) {
      text.append(i == 0 ? "" : ",").append(xip[i]);
    }
    return text.toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Snapshot s
        && s.xmin == xmin
        && s.xmax == xmax
        && Arrays.equals(s.xip, xip);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(xmax) * 31 + Arrays.hashCode(xip);
  }
}
