package dev.fencepost.model;

import java.math.BigDecimal;

/**
 * Doubles on their way through jsonb, which prints numbers without an exponent: of 2.5E7 it makes
 * the integer 25000000. A point that is written is kept.
 */
public final class JsonDouble {
  /** From here on Java writes an exponent. */
  private static final double WRITTEN_PLAINLY = 1e7;

  private JsonDouble() {}

  /** Whether it comes out as the double it is, written as Java writes it. */
  public static boolean kept(double value) {
    return Math.abs(value) < WRITTEN_PLAINLY;
  }

  /**
   * The same number in a form that stays one with a point.
   *
   * @param floating a {@link Double} or {@link Float}
   * @throws IllegalArgumentException when it is infinite or none: JSON has no such numbers
   */
  public static Number pointed(Number floating) {
    double value = floating.doubleValue();
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException("JSON has no number for " + value);
    }
    boolean whole = value == Math.rint(value);
    return whole && !kept(value) ? new BigDecimal(value).setScale(1) : floating;
  }
}
