package dev.fencepost.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Prometheus' text format, read. */
record Scrape(List<Sample> samples) {
  private static final Pattern LINE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? ([^ ]+)");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  record Sample(String name, Map<String, String> labels, double value) {}

  static Scrape of(String text) {
    List<Sample> samples = new ArrayList<>();
    for (String line : text.split("\n")) {
      if (line.startsWith("#") || line.isEmpty()) {
        continue;
      }
      Matcher m = LINE.matcher(line);
      if (!m.matches()) {
        throw new AssertionError("not a sample: " + line);
      }
      Map<String, String> labels = new LinkedHashMap<>();
      if (m.group(2) != null) {
        Matcher label = LABEL.matcher(m.group(2));
        while (label.find()) {
          labels.put(label.group(1), label.group(2));
        }
      }
      samples.add(new Sample(m.group(1), labels, value(m.group(3))));
    }
    return new Scrape(samples);
  }

  Set<String> names() {
    Set<String> names = new LinkedHashSet<>();
    samples.forEach(sample -> names.add(sample.name()));
    return names;
  }

  List<Sample> named(String name) {
    return samples.stream().filter(sample -> sample.name().equals(name)).toList();
  }

  /** The one sample of this name and these labels: name, value, name, value… */
  double value(String name, String... labels) {
    List<Sample> found = new ArrayList<>(named(name));
    for (int i = 0; i < labels.length; i += 2) {
      String label = labels[i];
      String value = labels[i + 1];
      found.removeIf(sample -> !value.equals(sample.labels().get(label)));
    }
    if (found.size() != 1) {
      throw new AssertionError(found.size() + " samples of " + name + ": " + named(name));
    }
    return found.get(0).value();
  }

  private static double value(String text) {
    return switch (text) {
      case "+Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }
}
