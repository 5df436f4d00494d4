package dev.fencepost.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.fencepost.testing.Await;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What {@code conf/} hands out for Prometheus and Grafana asks only for what is scraped. */
class DashboardsTest {
  private static final Path ALERTS = Path.of("conf", "prometheus", "alerts.yaml");
  private static final Path TROUBLES = Path.of("src", "test", "prometheus", "alerts-test.yaml");
  private static final Path GRAFANA = Path.of("conf", "grafana", "fencepost.json");
  private static final Pattern SELECTOR =
      Pattern.compile("\\b((?:fencepost|vertx|jvm|process)_[a-z0-9_]+)(?:\\{([^}]*)})?");
  private static final Pattern MATCHER =
      Pattern.compile("([a-z_]+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");
  private static final Pattern INCREASE = Pattern.compile("increase\\(([a-z_]+)");
  // Put there by Prometheus when it scrapes.
  private static final Set<String> OF_THE_SCRAPE = Set.of("instance", "job");

  private static Scrape scrape;

  @BeforeAll
  static void scrape() {
    FencepostMetrics metrics = new FencepostMetrics(MetricsFixture.config("metrics: {jmx: false}"));
    Vertx vertx =
        Vertx.builder()
            .with(new VertxOptions().setMetricsOptions(metrics.vertxOptions()))
            .withMetrics(metrics.vertxFactory())
            .build();
    Await.result(metrics.watch(vertx));
    MetricsFixture.oneOfEach(metrics);
    scrape = Scrape.of(metrics.scrape());
    Await.result(vertx.close());
    metrics.close();
  }

  @AfterAll
  static void forget() {
    scrape = null;
  }

  @Test
  void alertsAskForMetricsAndLabelsThatExist() throws Exception {
    Map<String, String> expressions = alerts();
    assertThat(expressions).hasSizeGreaterThan(10);
    expressions.forEach(DashboardsTest::assertExists);
  }

  @Test
  void panelsAskForMetricsAndLabelsThatExist() throws Exception {
    List<String> expressions = new ArrayList<>();
    collect(new JsonMapper().readTree(Files.readString(GRAFANA)), expressions);
    assertThat(expressions).hasSizeGreaterThan(20);
    expressions.forEach(expression -> assertExists(expression, expression));
  }

  @Test
  void theDashboardShowsEveryMetricOfOurs() throws Exception {
    Set<String> shown = new TreeSet<>();
    List<String> expressions = new ArrayList<>();
    collect(new JsonMapper().readTree(Files.readString(GRAFANA)), expressions);
    expressions.forEach(
        expression -> SELECTOR.matcher(expression).results().forEach(m -> shown.add(m.group(1))));

    Set<String> ours = new TreeSet<>(scrape.names());
    ours.removeIf(name -> !name.startsWith("fencepost_") || name.matches(".*_(count|sum|max)"));
    assertThat(shown).containsAll(ours);
  }

  @Test
  void everyAlertSaysWhatToDo() throws Exception {
    for (JsonNode group : new YAMLMapper().readTree(Files.readString(ALERTS)).get("groups")) {
      for (JsonNode rule : group.get("rules")) {
        assertThat(rule.at("/annotations/summary").asText()).as(rule.toString()).isNotBlank();
        assertThat(rule.at("/annotations/description").asText()).isNotBlank();
        assertThat(rule.at("/labels/severity").asText()).isIn("warning", "critical");
      }
    }
  }

  @Test
  void promtoolAcceptsTheAlerts() throws Exception {
    promtool("check", "rules", ALERTS.toString());
  }

  @Test
  void eachAlertSpeaksInItsTroubleAndIsQuietBefore() throws Exception {
    promtool("test", "rules", TROUBLES.toString());
  }

  @Test
  void eachAlertHasATrouble() throws Exception {
    Set<String> tried = new TreeSet<>();
    new YAMLMapper()
        .readTree(Files.readString(TROUBLES))
        .get("tests")
        .forEach(test -> tried.add(test.get("name").asText()));
    assertThat(tried).containsExactlyInAnyOrderElementsOf(alerts().keySet());
  }

  /** {@code increase} sees no step in a series that begins with its first event. */
  @Test
  void whatAnAlertSeesIncreaseIsThereBeforeItsFirstEvent() throws Exception {
    FencepostMetrics quiet = new FencepostMetrics(MetricsFixture.config("metrics: {jmx: false}"));
    Set<String> there = new TreeSet<>(Scrape.of(quiet.scrape()).names());
    quiet.close();
    List<String> asked = new ArrayList<>();
    for (String expression : alerts().values()) {
      INCREASE.matcher(expression).results().forEach(found -> asked.add(found.group(1)));
    }
    assertThat(asked).hasSizeGreaterThan(2);
    assertThat(there).containsAll(asked);
  }

  private static void promtool(String... arguments) throws Exception {
    boolean there =
        List.of(System.getenv("PATH").split(File.pathSeparator)).stream()
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool")));
    Assumptions.assumeTrue(there, "promtool is not installed");
    List<String> line = new ArrayList<>(List.of("promtool"));
    line.addAll(List.of(arguments));
    Process check = new ProcessBuilder(line).redirectErrorStream(true).start();
    String said = new String(check.getInputStream().readAllBytes());
    assertThat(check.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(check.exitValue()).as(said).isZero();
  }

  private static Map<String, String> alerts() throws Exception {
    Map<String, String> expressions = new LinkedHashMap<>();
    for (JsonNode group : new YAMLMapper().readTree(Files.readString(ALERTS)).get("groups")) {
      group
          .get("rules")
          .forEach(rule -> expressions.put(rule.get("alert").asText(), rule.get("expr").asText()));
    }
    return expressions;
  }

  private static void collect(JsonNode node, List<String> expressions) {
    if (node.path("expr").isTextual()) {
      expressions.add(node.get("expr").textValue());
    }
    if (node.path("definition").isTextual()) {
      expressions.add(node.get("definition").textValue());
    }
    node.forEach(child -> collect(child, expressions));
  }

  private static void assertExists(String where, String expression) {
    Matcher selector = SELECTOR.matcher(expression);
    int found = 0;
    while (selector.find()) {
      found++;
      String name = selector.group(1);
      assertThat(scrape.names()).as(where).contains(name);
      if (selector.group(2) != null) {
        Matcher matcher = MATCHER.matcher(selector.group(2));
        while (matcher.find()) {
          assertLabel(where, name, matcher.group(1), matcher.group(2), matcher.group(3));
        }
      }
    }
    assertThat(found).as(where + " asks for something").isPositive();
  }

  private static void assertLabel(
      String where, String name, String label, String operator, String value) {
    if (OF_THE_SCRAPE.contains(label)) {
      return;
    }
    List<Scrape.Sample> samples = scrape.named(name);
    assertThat(samples).as(where).allSatisfy(s -> assertThat(s.labels()).containsKey(label));
    if (operator.equals("=") && !label.equals("cause")) {
      assertThat(samples).as(where).anyMatch(s -> value.equals(s.labels().get(label)));
    }
  }
}
