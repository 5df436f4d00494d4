package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is in deploy/ and docs/deployment.md agrees with the program. */
class DeploymentTest {

  private static final Path KUBERNETES = Path.of("deploy/kubernetes");
  private static final Path UNIT = Path.of("deploy/systemd/fencepost.service");
  private static final Map<String, String> ENVIRONMENT =
      Map.of(
          "FENCEPOST_DATABASE_URI", "postgresql://postgres/shop",
          "FENCEPOST_BROKER_URI", "amqp://rabbitmq:5672/",
          "FENCEPOST_ADMIN_TOKEN", "token");

  private static final FencepostConfig DEFAULTS = ConfigLoader.parse("relay: {}\n", Map.of());

  /** By kind, such as {@code Deployment}. */
  private static Map<String, JsonNode> manifests() throws IOException {
    Map<String, JsonNode> found = new TreeMap<>();
    try (Stream<Path> files = Files.list(KUBERNETES)) {
      for (Path file : files.toList()) {
        try (MappingIterator<JsonNode> all =
            new YAMLMapper().readerFor(JsonNode.class).readValues(file.toFile())) {
          while (all.hasNext()) {
            JsonNode one = all.next();
            found.put(one.path("kind").asText(), one);
          }
        }
      }
    }
    return found;
  }

  /** What a stop may take at the most, as {@link ServiceProcess} waits for it. */
  private static Duration stopping(FencepostConfig config) {
    return config.worker().shutdownDeadline().plus(Deadlines.SETTLING.multipliedBy(2));
  }

  private static long number(Path file, String pattern) throws IOException {
    Matcher found = Pattern.compile(pattern).matcher(Files.readString(file));
    assertThat(found.find()).as(pattern + " in " + file).isTrue();
    return Long.parseLong(found.group(1));
  }

  private static FencepostConfig mounted(Map<String, JsonNode> manifests) {
    return ConfigLoader.parse(
        manifests.get("ConfigMap").at("/data/fencepost.yaml").asText(), ENVIRONMENT);
  }

  @Test
  void nobodyKillsAProcessThatStillDrains() throws IOException {
    long most = stopping(DEFAULTS).toSeconds();
    assertThat(number(UNIT, "TimeoutStopSec=(\\d+)")).isGreaterThan(most);
    assertThat(number(Path.of("deploy/docker/Dockerfile"), "--stop-timeout (\\d+)"))
        .isGreaterThan(most);
    Map<String, JsonNode> manifests = manifests();
    assertThat(
            manifests
                .get("Deployment")
                .at("/spec/template/spec/terminationGracePeriodSeconds")
                .asLong())
        .isGreaterThan(stopping(mounted(manifests)).toSeconds());
    String docs = Files.readString(Path.of("docs/deployment.md"));
    assertThat(docs)
        .contains("plus " + Deadlines.SETTLING.multipliedBy(2).toSeconds() + " s")
        .contains("fit the default of " + DEFAULTS.worker().shutdownDeadline().toSeconds() + "s");
  }

  @Test
  void theManifestsFitEachOther() throws IOException {
    Map<String, JsonNode> manifests = manifests();
    assertThat(manifests)
        .containsOnlyKeys(
            "ConfigMap",
            "Deployment",
            "Job",
            "Kustomization",
            "PodDisruptionBudget",
            "Secret",
            "Service");
    JsonNode pod = manifests.get("Deployment").at("/spec/template");
    JsonNode container = pod.at("/spec/containers/0");
    JsonNode label = pod.at("/metadata/labels");
    assertThat(manifests.get("Deployment").at("/spec/selector/matchLabels")).isEqualTo(label);
    assertThat(manifests.get("Service").at("/spec/selector")).isEqualTo(label);
    assertThat(manifests.get("PodDisruptionBudget").at("/spec/selector/matchLabels"))
        .isEqualTo(label);
    FencepostConfig config = mounted(manifests);
    assertThat(container.at("/ports/0/containerPort").asInt())
        .isEqualTo(config.operation().admin().port());
    assertThat(container.at("/livenessProbe/httpGet/path").asText()).isEqualTo("/health/live");
    assertThat(container.at("/readinessProbe/httpGet/path").asText()).isEqualTo("/health/ready");
    assertThat(container.at("/readinessProbe/timeoutSeconds").asLong())
        .as("health may ask the database for so long")
        .isGreaterThan(Deadlines.ANSWER.toSeconds());
    assertThat(manifests.get("Secret").path("stringData").fieldNames())
        .toIterable()
        .containsExactlyInAnyOrderElementsOf(ENVIRONMENT.keySet());
    assertThat(manifests.get("Deployment").at("/spec/replicas").asInt())
        .isGreaterThan(manifests.get("PodDisruptionBudget").at("/spec/maxUnavailable").asInt());
  }

  @Test
  void everyManifestIsAppliedBySomebody() throws IOException {
    List<String> listed = new java.util.ArrayList<>(List.of("migrate.yaml", "kustomization.yaml"));
    manifests().get("Kustomization").path("resources").forEach(each -> listed.add(each.asText()));
    try (Stream<Path> files = Files.list(KUBERNETES)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(listed);
    }
  }

  @Test
  void kustomizeBuildsThem(@TempDir Path folder) throws Exception {
    assumeThat(Path.of("/usr/bin/kubectl")).isExecutable();
    Path built = folder.resolve("built.yaml");
    Process kustomize =
        new ProcessBuilder("kubectl", "kustomize", KUBERNETES.toString())
            .redirectErrorStream(true)
            .redirectOutput(built.toFile())
            .start();
    assertThat(kustomize.waitFor()).as(Files.readString(built)).isZero();
    assertThat(Files.readString(built))
        .contains("kind: Deployment", "kind: ConfigMap", "kind: PodDisruptionBudget");
  }

  /** No engine is needed to see that each file it takes is there and each path it runs is made. */
  @Test
  void theImageIsMadeOfWhatIsBuilt() throws IOException {
    String file = Files.readString(Path.of("deploy/docker/Dockerfile"));
    assertThat(file.lines().map(line -> line.split(" ")[0]).filter(word -> word.matches("[A-Z]+")))
        .contains("FROM", "ADD", "USER", "HEALTHCHECK", "ENTRYPOINT", "CMD")
        .allMatch(
            List.of(
                    "ARG",
                    "FROM",
                    "ADD",
                    "RUN",
                    "ENV",
                    "USER",
                    "EXPOSE",
                    "STOPSIGNAL",
                    "HEALTHCHECK",
                    "CMD",
                    "ENTRYPOINT")
                ::contains);
    String version = pomVersion();
    assertThat(file).contains("ARG VERSION=" + version);
    Matcher entry = Pattern.compile("ENTRYPOINT \\[\"/opt/fencepost/(\\S+)\"]").matcher(file);
    assertThat(entry.find()).isTrue();
    assertThat(Path.of(entry.group(1))).isExecutable();
    JsonNode pod = manifests().get("Deployment").at("/spec/template/spec");
    assertThat(pod.at("/containers/0/image").asText()).isEqualTo("fencepost:" + version);
    assertThat(file)
        .contains("USER " + pod.at("/securityContext/runAsUser").asText() + ":")
        .contains("EXPOSE " + pod.at("/containers/0/ports/0/containerPort").asText());
  }

  private static String pomVersion() throws IOException {
    Matcher version =
        Pattern.compile("<artifactId>fencepost</artifactId>\\s*<version>([^<]+)</version>")
            .matcher(Files.readString(Path.of("pom.xml")));
    assertThat(version.find()).isTrue();
    return version.group(1);
  }

  @Test
  void theDocumentedDefaultsAreTheDefaults() throws IOException {
    String docs = Files.readString(Path.of("docs/deployment.md"));
    assertThat(docs)
        .contains("`relay.lanes` (" + DEFAULTS.relay().lanes() + ")")
        .contains("`worker.pool.size` (" + DEFAULTS.worker().poolSize() + ")")
        .contains("`pool-size: " + DEFAULTS.database().poolSize() + "`")
        .contains("`relay.retention` " + DEFAULTS.relay().retention().toHours() + "h")
        .contains("receipts` " + DEFAULTS.worker().receiptRetention().toDays() + "d");
  }

  @Test
  void systemdFindsNoFaultInTheUnit(@TempDir Path folder) throws Exception {
    assumeThat(Path.of("/usr/bin/systemd-analyze")).exists();
    Path unit = folder.resolve("fencepost.service");
    String installed = Path.of("bin/fencepost").toAbsolutePath().toString();
    Files.writeString(
        unit, Files.readString(UNIT).replace("/opt/fencepost/bin/fencepost", installed));
    Path said = folder.resolve("said");
    Process verify =
        new ProcessBuilder("systemd-analyze", "verify", unit.toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(verify.waitFor()).as(Files.readString(said)).isZero();
    assertThat(said).isEmptyFile();
  }
}
