package dev.fencepost.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** Tables in the results and between markers of the note; every round's figures as JSON. */
final class Report {

  private static final String OURS = "fencepost";

  private final boolean publish;

  /** Tables go to the results; and into the note when they are to be published. */
  Report(boolean publish) {
    this.publish = publish;
  }

  static void progress(int round, String name, Map<String, Double> figures) {
    System.out.printf(
        "  %s %-24s %s%n",
        round < 0 ? "warm-up" : "round " + (round + 1),
        name,
        figures.entrySet().stream()
            .map(figure -> figure.getKey() + "=" + number(figure.getValue()))
            .collect(Collectors.joining(" ")));
  }

  void write(
      String scenario,
      String title,
      Map<String, String> settings,
      String rounds,
      Map<String, List<Map<String, Double>>> results) {
    String table =
        table(results)
            + "\n"
            + settings(settings)
            + "\n%s; %s, commit %s, kernel %s.%n"
                .formatted(rounds, LocalDate.now(), Paths.commit(), System.getProperty("os.version"));
    save(scenario, "### " + title + "\n\n" + table);
    json(scenario, results);
    System.out.println("\n" + title + "\n\n" + table);
  }

  void text(String id, String text) {
    save(id, text);
  }

  private static String settings(Map<String, String> settings) {
    return settings.entrySet().stream()
        .map(each -> "- **" + each.getKey() + "**: " + each.getValue() + "\n")
        .collect(Collectors.joining());
  }

  static String table(Map<String, List<Map<String, Double>>> results) {
    List<String> columns = new ArrayList<>();
    for (String figure : Figures.known()) {
      if (results.values().stream().flatMap(List::stream).anyMatch(f -> f.containsKey(figure))) {
        columns.add(figure);
      }
    }
    results.values().stream()
        .flatMap(List::stream)
        .flatMap(figures -> figures.keySet().stream())
        .filter(figure -> !columns.contains(figure))
        .forEach(columns::add);
    StringBuilder text = new StringBuilder("| |");
    columns.forEach(column -> text.append(' ').append(Figures.head(column)).append(" |"));
    List<Ratio> ratios = ratios(results.keySet(), columns);
    ratios.forEach(ratio -> text.append(' ').append(ratio.head()).append(" |"));
    text.append("\n|---|").append("---|".repeat(columns.size() + ratios.size())).append('\n');
    results.forEach(
        (name, rounds) -> {
          text.append("| ").append(name).append(" |");
          for (String column : columns) {
            text.append(' ').append(cell(rounds, column)).append(" |");
          }
          for (Ratio ratio : ratios) {
            text.append(' ').append(ratio.cell(results.get(ratio.base()), rounds)).append(" |");
          }
          text.append('\n');
        });
    return text.toString();
  }

  private static String cell(List<Map<String, Double>> rounds, String figure) {
    double[] values =
        rounds.stream()
            .filter(each -> each.containsKey(figure))
            .mapToDouble(each -> each.get(figure))
            .sorted()
            .toArray();
    return spread(values);
  }

  /**
   * One column that compares each with one of ours, pair by pair within a round.
   *
   * @param base the name of ours
   * @param figure what is compared
   * @param inverted it by ours, where more is worse
   */
  private record Ratio(String base, String figure, boolean inverted) {

    String head() {
      String pair = inverted ? "it / " + base : base + " / it";
      return pair + ", " + Figures.head(figure);
    }

    String cell(List<Map<String, Double>> ours, List<Map<String, Double>> theirs) {
      if (ours == theirs) {
        return "";
      }
      return spread(
          IntStream.range(0, Math.min(ours.size(), theirs.size()))
              .filter(i -> ours.get(i).containsKey(figure) && theirs.get(i).containsKey(figure))
              .mapToDouble(i -> ours.get(i).get(figure) / theirs.get(i).get(figure))
              .map(ratio -> inverted ? 1 / ratio : ratio)
              .sorted()
              .toArray());
    }
  }

  /** Peers are compared with each of ours, ours among themselves with the first. */
  private static List<Ratio> ratios(Set<String> names, List<String> columns) {
    List<String> ours = names.stream().filter(name -> name.startsWith(OURS)).toList();
    if (names.size() < 2 || ours.isEmpty()) {
      return List.of();
    }
    String figure = columns.contains(Figures.P50) ? Figures.P50 : Figures.RATE;
    List<String> bases = ours.size() < names.size() ? ours : ours.subList(0, 1);
    List<Ratio> ratios = new ArrayList<>();
    bases.forEach(base -> ratios.add(new Ratio(base, figure, false)));
    if (columns.contains(Figures.COST)) {
      ratios.add(new Ratio(bases.get(0), Figures.COST, true));
    }
    return ratios;
  }

  private static String spread(double[] sorted) {
    if (sorted.length == 0) {
      return "";
    }
    String median = number(median(sorted));
    return sorted.length == 1
        ? median
        : "**" + median + "** (" + number(sorted[0]) + "–" + number(sorted[sorted.length - 1]) + ")";
  }

  static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1
        ? sorted[middle]
        : DoubleStream.of(sorted[middle - 1], sorted[middle]).average().orElseThrow();
  }

  static String number(double value) {
    if (value >= 1000) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    return String.format(Locale.ROOT, value >= 100 ? "%.0f" : value >= 1 ? "%.1f" : "%.3f", value);
  }

  private void save(String id, String text) {
    keep(id + ".md", text.strip() + "\n");
    if (publish) {
      publish(id, text.strip());
    }
  }

  private static void keep(String file, String text) {
    try {
      Files.createDirectories(Paths.RESULTS);
      Files.writeString(Paths.RESULTS.resolve(file), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void publish(String id, String text) {
    String begin = "<!-- bench:" + id + " -->";
    String end = "<!-- bench:end -->";
    try {
      String all = Files.readString(Paths.NOTE);
      String block = begin + "\n" + text + "\n" + end;
      int at = all.indexOf(begin);
      if (at < 0) {
        all = all.stripTrailing() + "\n\n" + block + "\n";
      } else {
        all = all.substring(0, at) + block + all.substring(all.indexOf(end, at) + end.length());
      }
      Files.writeString(Paths.NOTE, all);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void json(String scenario, Map<String, List<Map<String, Double>>> results) {
    String text =
        results.entrySet().stream()
            .map(
                entry ->
                    "\"" + entry.getKey() + "\": ["
                        + entry.getValue().stream()
                            .map(Report::json)
                            .collect(Collectors.joining(",\n    "))
                        + "]")
            .collect(Collectors.joining(",\n  ", "{\n  ", "\n}\n"));
    keep(scenario + ".json", text);
  }

  private static String json(Map<String, Double> figures) {
    return new TreeMap<>(figures)
        .entrySet().stream()
            .map(figure -> "\"" + figure.getKey() + "\": " + figure.getValue())
            .collect(Collectors.joining(", ", "{", "}"));
  }

  /** An ordered map of settings by name. */
  static Map<String, String> settingsOf(List<? extends Entrant> entrants) {
    Map<String, String> settings = new LinkedHashMap<>();
    entrants.forEach(entrant -> settings.put(entrant.name(), entrant.settings()));
    return settings;
  }
}
