package dev.fencepost.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever an operator meets is explained, under the anchor that the console links to. */
class TriageTest {
  private final String page = Files.readString(Path.of("docs/triage.md"));

  TriageTest() throws IOException {}

  static Stream<String> words() {
    return Stream.of(
            LagCause.values(),
            ParkedReason.values(),
            ActivityState.values(),
            DeadLetterReason.values())
        .flatMap(Arrays::stream)
        .filter(word -> word != LagCause.NONE)
        .map(word -> word.name().toLowerCase(Locale.ROOT));
  }

  @ParameterizedTest
  @MethodSource("words")
  void everyWordOfAClosedSetHasItsHeading(String word) {
    assertThat(page).contains("\n### " + word + "\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "delivery",
        "start",
        "retry",
        "poison",
        "dead-letter",
        "soft-limit",
        "hard-limit",
        "unknown",
        "takeover",
        "stalled"
      })
  void everyLogLineHasItsHeading(String line) {
    assertThat(page).contains("\n### " + line + "\n");
  }

  @Test
  void everyOutcomeAndMetricIsInItsTable() throws IOException {
    for (AttemptOutcome outcome : AttemptOutcome.values()) {
      assertThat(page).contains("\n| `" + outcome.wire() + "` |");
    }
    Set<String> metrics = new HashSet<>();
    Matcher names =
        Pattern.compile("\"fencepost\\.((?:relay|worker|dead|reviews)[a-z.]+[a-z])\"")
            .matcher(sources());
    while (names.find()) {
      metrics.add("fencepost_" + names.group(1).replace('.', '_'));
    }
    assertThat(metrics).hasSizeGreaterThan(8);
    for (String metric : metrics) {
      assertThat(page).containsPattern("\n\\| `" + metric + "(_seconds|_total)?` \\|");
    }
  }

  private static String sources() throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.walk(Path.of("src/main/java/dev/fencepost/metrics"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        all.append(Files.readString(file));
      }
    }
    return all.toString();
  }

  @Test
  void everyLinkWithinThePageLeadsSomewhere() {
    Set<String> anchors = new HashSet<>();
    Matcher headings = Pattern.compile("(?m)^#{1,3} (.*)$").matcher(page);
    while (headings.find()) {
      anchors.add(
          headings
              .group(1)
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^\\w\\- ]", "")
              .replace(' ', '-'));
    }
    Matcher links = Pattern.compile("\\]\\(#([^)]+)\\)").matcher(page);
    while (links.find()) {
      assertThat(anchors).contains(links.group(1));
    }
  }

  @Test
  void everyActionThatTheConsoleSearchesForIsExplained() throws Exception {
    String script = Files.readString(Path.of("src/main/resources/console/js/audit.js"));
    String docs = Files.readString(Path.of("docs/operations.md"));
    Matcher list = Pattern.compile("ACTIONS = .*?\\.\\.\\.\\[(.*?)]").matcher(script);
    assertThat(list.find()).isTrue();
    String[] actions = list.group(1).replace("\"", "").split(", ");
    assertThat(actions).contains("redrive", "takeover");
    for (String action : actions) {
      assertThat(docs)
          .containsPattern("(?m)^\\|[^|]*`" + action + "`[^|]*\\| an? (operator|worker) \\|");
    }
  }
}
