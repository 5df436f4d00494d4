package dev.fencepost.handlers;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The header {@code Retry-After}: seconds, or a date. */
final class RetryAfter {
  /** A remote that asks for more is asked again after this. */
  static final Duration MOST = Duration.ofDays(30);

  private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");

  private RetryAfter() {}

  /** Null when there is none, or none that can be read. */
  static @Nullable Duration parse(@Nullable String header, Instant now) {
    if (header == null) {
      return null;
    }
    String text = header.strip();
    if (SECONDS.matcher(text).matches()) {
      return bounded(Duration.ofSeconds(Long.parseLong(text)));
    }
    try {
      ZonedDateTime date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
      return bounded(Duration.between(now, date.toInstant()));
    } catch (DateTimeException unreadable) {
      return null;
    }
  }

  private static Duration bounded(Duration after) {
    return after.isNegative() ? Duration.ZERO : after.compareTo(MOST) > 0 ? MOST : after;
  }
}
