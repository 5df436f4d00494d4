package dev.fencepost.config;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes in bytes as the configuration writes them: {@code 512B 16KiB 8MiB 1GiB}. */
public final class SizeText {
  static final String FORM = "a size such as 512B, 16KiB, 8MiB or 1GiB";

  private static final Pattern TEXT = Pattern.compile("(\\d{1,18})(B|KiB|MiB|GiB)");

  private SizeText() {}

  /** Empty when the text is of another form or too large for a long. */
  public static OptionalLong parse(String text) {
    Matcher m = TEXT.matcher(text);
    if (!m.matches()) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Math.multiplyExact(Long.parseLong(m.group(1)), unitBytes(m.group(2))));
    } catch (ArithmeticException tooLarge) {
      return OptionalLong.empty();
    }
  }

  /** In the largest unit that loses nothing. */
  public static String format(long bytes) {
    for (String unit : new String[] {"GiB", "MiB", "KiB"}) {
      if (bytes != 0 && bytes % unitBytes(unit) == 0) {
        return bytes / unitBytes(unit) + unit;
      }
    }
    return bytes + "B";
  }

  private static long unitBytes(String unit) {
    return switch (unit) {
      case "B" -> 1;
      case "KiB" -> 1L << 10;
      case "MiB" -> 1L << 20;
      default -> 1L << 30;
    };
  }
}
