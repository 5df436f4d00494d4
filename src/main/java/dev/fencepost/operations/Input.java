package dev.fencepost.operations;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.TemporalAccessor;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks of what operators enter. A refusal names the field, the value and what is allowed. */
public final class Input {
  /** Longest name, id or key that is looked up. */
  private static final int MAX_NAME = 1024;

  /** Of AMQP's short strings, in UTF-8. */
  private static final int MAX_SHORT_STRING = 255;

  private static final int MAX_SHOWN = 80;
  private static final DateTimeFormatter ISO =
      new DateTimeFormatterBuilder()
          .append(DateTimeFormatter.ISO_LOCAL_DATE_TIME)
          .optionalStart()
          .appendOffset("+HH:mm", "Z")
          .toFormatter(Locale.ROOT);
  // Within what a timestamp of PostgreSQL can hold.
  private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");
  private static final Pattern AGO = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

  private Input() {}

  public static FencepostException refused(String field, String value, String allowed) {
    String shown = value.length() > MAX_SHOWN ? value.substring(0, MAX_SHOWN) + "…" : value;
    return new FencepostException(
        FailureKind.INVALID_INPUT, field + ": \"" + shown + "\" is not allowed; use " + allowed);
  }

  /** A text that must be there. */
  public static String required(String field, @Nullable String value, int maxLength) {
    if (value == null || value.isBlank()) {
      throw new FencepostException(
          FailureKind.INVALID_INPUT, field + ": is missing; it must not be empty");
    }
    return storable(field, value, maxLength);
  }

  /** A name, id or key that must be there. */
  public static String name(String field, @Nullable String value) {
    return required(field, value, MAX_NAME);
  }

  /** A filter: null and empty both mean "any". */
  public static @Nullable String optional(String field, @Nullable String value) {
    return value == null || value.isEmpty() ? null : storable(field, value, MAX_NAME);
  }

  /** What AMQP has as a short string, such as an exchange or a routing key; it may be empty. */
  static void shortString(String field, @Nullable String value) {
    if (value == null) {
      return;
    }
    if (value.getBytes(StandardCharsets.UTF_8).length > MAX_SHORT_STRING) {
      throw refused(field, value, "at most " + MAX_SHORT_STRING + " bytes of UTF-8");
    }
    storable(field, value);
  }

  private static String storable(String field, String value, int maxLength) {
    if (value.length() > maxLength) {
      throw refused(field, value, "at most " + maxLength + " characters");
    }
    return storable(field, value);
  }

  /** PostgreSQL's text has no NUL. */
  static String storable(String field, String value) {
    if (value.indexOf('\0') >= 0) {
      throw refused(field, value.replace('\0', '?'), "text without NUL");
    }
    return value;
  }

  /** One of an enum's values by its lower-case name; null and empty give null. */
  public static <E extends Enum<E>> @Nullable E choice(
      String field, @Nullable String value, Class<E> type) {
    if (value == null || value.isEmpty()) {
      return null;
    }
    for (E constant : type.getEnumConstants()) {
      if (wire(constant).equals(value)) {
        return constant;
      }
    }
    throw refused(field, value, "one of " + allowed(type));
  }

  /** One of an enum's values, which must be there. */
  public static <E extends Enum<E>> E requiredChoice(
      String field, @Nullable String value, Class<E> type) {
    E found = choice(field, value, type);
    if (found == null) {
      throw new FencepostException(
          FailureKind.INVALID_INPUT, field + ": is missing; use one of " + allowed(type));
    }
    return found;
  }

  private static <E extends Enum<E>> String allowed(Class<E> type) {
    return Arrays.stream(type.getEnumConstants())
        .map(Input::wire)
        .collect(Collectors.joining(", "));
  }

  static String wire(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  public static long number(String field, String value, long min) {
    try {
      long number = Long.parseLong(value);
      if (number >= min) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // Said below.
    }
    throw refused(field, value, "a whole number from " + min);
  }

  /**
   * A point in time: ISO-8601 with or without an offset (UTC is meant), a date, or a time span ago
   * such as {@code 15m}.
   *
   * @param now what spans count back from
   */
  public static @Nullable Instant time(String field, @Nullable String value, Instant now) {
    if (value == null || value.isEmpty()) {
      return null;
    }
    try {
      Instant time = time(value, now);
      if (storable(time)) {
        return time;
      }
    } catch (DateTimeException | ArithmeticException notATime) {
      // Said below.
    }
    throw refused(
        field,
        value,
        "a time such as 2025-03-31T14:05:00Z, 2025-03-31 (UTC), or 15m, 2h, 7d (that long ago)");
  }

  /** Whether the database can hold it. */
  static boolean storable(Instant time) {
    return !time.isBefore(EARLIEST) && time.isBefore(END);
  }

  private static Instant time(String value, Instant now) {
    Matcher ago = AGO.matcher(value);
    if (ago.matches()) {
      return now.minus(span(Long.parseLong(ago.group(1)), ago.group(2)));
    }
    if (value.length() == 10) {
      return LocalDate.parse(value).atStartOfDay(ZoneOffset.UTC).toInstant();
    }
    TemporalAccessor parsed =
        ISO.parseBest(value.replace(' ', 'T'), OffsetDateTime::from, LocalDateTime::from);
    return parsed instanceof OffsetDateTime withOffset
        ? withOffset.toInstant()
        : LocalDateTime.from(parsed).toInstant(ZoneOffset.UTC);
  }

  private static Duration span(long amount, String unit) {
    return switch (unit) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }
}
