package dev.fencepost.config;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as the configuration writes them: {@code 250ms 15s 10m 2h 7d}. */
public final class DurationText {
  static final String FORM = "a duration such as 250ms, 15s, 10m, 2h or 7d";

  private static final Pattern TEXT = Pattern.compile("(\\d{1,18})(ms|s|m|h|d)");

  private DurationText() {}

  /** Empty when the text is of another form or too large for milliseconds in a long. */
  public static Optional<Duration> parse(String text) {
    Matcher m = TEXT.matcher(text);
    if (!m.matches()) {
      return Optional.empty();
    }
    try {
      long millis = Math.multiplyExact(Long.parseLong(m.group(1)), unitMillis(m.group(2)));
      return Optional.of(Duration.ofMillis(millis));
    } catch (ArithmeticException tooLarge) {
      return Optional.empty();
    }
  }

  /** In the largest unit that loses nothing; what is below a millisecond is cut off. */
  public static String format(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    for (String unit : new String[] {"d", "h", "m", "s"}) {
      if (millis % unitMillis(unit) == 0) {
        return millis / unitMillis(unit) + unit;
      }
    }
    return millis + "ms";
  }

  private static long unitMillis(String unit) {
    return switch (unit) {
      case "ms" -> 1;
      case "s" -> 1_000;
      case "m" -> 60_000;
      case "h" -> 3_600_000;
      default -> 86_400_000;
    };
  }
}
