package dev.fencepost.config;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Typed values of a section, each with its default and bounds. */
final class Values {
  private static final Pattern WHOLE = Pattern.compile("-?\\d{1,18}");
  private static final Pattern NUMBER = Pattern.compile("-?\\d{1,18}(\\.\\d{1,18})?");

  private final Section section;

  Values(Section section) {
    this.section = section;
  }

  /** What is allowed, both ends included. */
  record Range<T extends Comparable<T>>(T least, T most) {
    boolean holds(T value) {
      return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
    }
  }

  static Range<Long> between(long least, long most) {
    return new Range<>(least, most);
  }

  static Range<Double> between(double least, double most) {
    return new Range<>(least, most);
  }

  static Range<Duration> between(String least, String most) {
    return new Range<>(
        DurationText.parse(least).orElseThrow(), DurationText.parse(most).orElseThrow());
  }

  boolean flag(String key, boolean otherwise) {
    String text = section.text(key);
    if (text == null || text.equals("true") || text.equals("false")) {
      return text == null ? otherwise : text.equals("true");
    }
    section.fault(key, Redaction.value(text) + " is neither true nor false", "true or false");
    return otherwise;
  }

  int whole(String key, int otherwise, Range<Long> range) {
    return bounded(
            key, (long) otherwise, range, Values::parseWhole, "a whole number", String::valueOf)
        .intValue();
  }

  double number(String key, double otherwise, Range<Double> range) {
    return bounded(key, otherwise, range, Values::parseNumber, "a number", Values::plain);
  }

  Duration duration(String key, Duration otherwise, Range<Duration> range) {
    return bounded(
        key, otherwise, range, DurationText::parse, DurationText.FORM, DurationText::format);
  }

  @Nullable Duration durationOrNull(String key, Range<Duration> range) {
    return section.text(key) == null ? null : duration(key, range.least(), range);
  }

  long size(String key, long otherwise, Range<Long> range) {
    return bounded(key, otherwise, range, Values::parseSize, SizeText.FORM, SizeText::format);
  }

  <E extends Enum<E>> E choice(String key, E otherwise) {
    String text = section.text(key);
    List<E> all = Arrays.asList(otherwise.getDeclaringClass().getEnumConstants());
    if (text == null) {
      return otherwise;
    }
    for (E one : all) {
      if (wire(one).equals(text)) {
        return one;
      }
    }
    String allowed = all.stream().map(Values::wire).collect(Collectors.joining(", "));
    section.fault(key, Redaction.value(text) + " is not one of the values", allowed);
    return otherwise;
  }

  /** Text that matches; {@code otherwise} when it is left out or empty. */
  String matching(String key, String otherwise, Pattern form, String allowed) {
    String text = matchingOrNull(key, form, allowed);
    return text == null ? otherwise : text;
  }

  /** Text that matches; null when it is left out or empty. */
  @Nullable String matchingOrNull(String key, Pattern form, String allowed) {
    String text = section.text(key);
    if (text == null || text.isEmpty()) {
      return null;
    }
    if (!form.matcher(text).matches()) {
      section.fault(key, Redaction.value(text) + " does not fit", allowed);
      return null;
    }
    return text;
  }

  /** As {@link #matching}, and a fault when it is left out. */
  String required(String key, Pattern form, String allowed) {
    String text = matchingOrNull(key, form, allowed);
    if (text == null && section.sound(key)) {
      section.fault(key, "is missing", allowed);
    }
    return text == null ? "" : text;
  }

  private <T extends Comparable<T>> T bounded(
      String key,
      T otherwise,
      Range<T> range,
      Function<String, Optional<T>> parse,
      String form,
      Function<T, String> show) {
    String text = section.text(key);
    if (text == null) {
      return otherwise;
    }
    String allowed = show.apply(range.least()) + " to " + show.apply(range.most());
    Optional<T> value = parse.apply(text);
    if (value.isEmpty()) {
      section.fault(key, Redaction.value(text) + " is not " + form, allowed);
    } else if (!range.holds(value.get())) {
      boolean low = value.get().compareTo(range.least()) < 0;
      section.fault(key, Redaction.value(text) + " is too " + (low ? "small" : "large"), allowed);
    } else {
      return value.get();
    }
    return otherwise;
  }

  static String wire(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** 2 rather than 2.0. */
  static String plain(double value) {
    return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
  }

  private static Optional<Long> parseWhole(String text) {
    return WHOLE.matcher(text).matches() ? Optional.of(Long.parseLong(text)) : Optional.empty();
  }

  private static Optional<Double> parseNumber(String text) {
    return NUMBER.matcher(text).matches()
        ? Optional.of(Double.parseDouble(text))
        : Optional.empty();
  }

  private static Optional<Long> parseSize(String text) {
    OptionalLong size = SizeText.parse(text);
    return size.isPresent() ? Optional.of(size.getAsLong()) : Optional.empty();
  }
}
