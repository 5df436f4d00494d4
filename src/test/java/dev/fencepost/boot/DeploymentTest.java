package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.sun.net.httpserver.HttpServer;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
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
    List<String> listed = new ArrayList<>(List.of("migrate.yaml", "kustomization.yaml"));
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

  /** No engine, no linter: what a good image keeps to, by hand. */
  @Test
  void theImageKeepsToTheRules() throws IOException {
    List<String> lines = instructions();
    assertThat(lines.get(0))
        .as("what may be given stands before FROM")
        .startsWith("ARG JAVA_IMAGE=");
    assertThat(lines.get(0).split("=")[1]).as("a tag, and not the newest").matches(".+:17-jre");
    assertThat(lines)
        .as("nothing is fetched and nothing installed while it is built")
        .noneMatch(line -> line.matches("(?i)(ADD|RUN) .*(https?:|apt|apk|curl|wget|sudo).*"));
    List<String> users = lines.stream().filter(line -> line.startsWith("USER ")).toList();
    assertThat(users)
        .as("a number, and never root")
        .singleElement()
        .asString()
        .matches("USER [1-9]\\d+:[1-9]\\d+");
    assertThat(lines.indexOf(users.get(0)))
        .as("files are root's, the process is not")
        .isGreaterThan(index(lines, "RUN "))
        .isGreaterThan(index(lines, "ADD "))
        .isLessThan(index(lines, "ENTRYPOINT "));
    for (String exec : List.of("ENTRYPOINT", "CMD")) {
      assertThat(words(lines, exec)).as(exec + " is no shell's child").isNotEmpty();
    }
    for (String once : List.of("FROM", "ENTRYPOINT", "CMD", "HEALTHCHECK", "STOPSIGNAL")) {
      assertThat(lines.stream().filter(line -> line.startsWith(once + " "))).as(once).hasSize(1);
    }
  }

  /** The archive as src/assembly makes it, against what the image takes from it. */
  @Test
  void theImageFindsItsProgramInTheArchive() throws IOException {
    String assembly = Files.readString(Path.of("src/assembly/dist.xml"));
    assertThat(assembly)
        .contains("<baseDirectory>fencepost-${project.version}</baseDirectory>")
        .contains("<format>tar.gz</format>")
        .containsPattern("<directory>bin</directory>[^!]*?<fileMode>0755</fileMode>");
    List<String> lines = instructions();
    assertThat(lines)
        .contains(
            "ADD target/fencepost-${VERSION}.tar.gz /opt/",
            "RUN ln -s fencepost-${VERSION} /opt/fencepost");
    assertThat(words(lines, "ENTRYPOINT")).containsExactly("/opt/fencepost/bin/fencepost");
  }

  /** The check of the image, run: alive is 0, anything else and nobody there are not. */
  @Test
  void theImageKnowsWhetherItLives() throws Exception {
    List<String> check =
        words(
            instructions().stream()
                .map(line -> line.replaceFirst("^HEALTHCHECK .* CMD ", "CHECK "))
                .toList(),
            "CHECK");
    AtomicInteger status = new AtomicInteger(200);
    List<String> asked = new CopyOnWriteArrayList<>();
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          asked.add(exchange.getRequestURI().getPath());
          exchange.sendResponseHeaders(status.get(), -1);
          exchange.close();
        });
    server.start();
    List<String> here =
        check.stream()
            .map(word -> word.replace("/8077", "/" + server.getAddress().getPort()))
            .toList();
    try {
      assertThat(exit(here)).isZero();
      assertThat(asked).containsExactly("/health/live");
      status.set(503);
      assertThat(exit(here)).isNotZero();
    } finally {
      server.stop(0);
    }
    assertThat(exit(here)).as("nobody listens").isNotZero();
  }

  private static int exit(List<String> command) throws Exception {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  /** Line by line, continued ones as one, without comments. */
  private static List<String> instructions() throws IOException {
    return Files.readString(Path.of("deploy/docker/Dockerfile"))
        .replaceAll("(?m)^#.*\n", "")
        .replaceAll("\\\\\n\\s*", "")
        .lines()
        .filter(line -> !line.isBlank())
        .toList();
  }

  private static int index(List<String> lines, String start) {
    return lines.stream().map(line -> line.startsWith(start)).toList().indexOf(true);
  }

  /** An instruction in its JSON form. */
  private static List<String> words(List<String> lines, String instruction) throws IOException {
    String line = lines.get(index(lines, instruction + " "));
    List<String> words = new ArrayList<>();
    new YAMLMapper()
        .readTree(line.substring(instruction.length()))
        .forEach(word -> words.add(word.asText()));
    return words;
  }

  @Test
  void whatIsStartedIsACommand() throws IOException {
    Map<String, JsonNode> manifests = manifests();
    List<List<String>> started = new ArrayList<>(List.of(words(instructions(), "CMD")));
    for (String kind : List.of("Deployment", "Job")) {
      List<String> arguments = new ArrayList<>();
      manifests
          .get(kind)
          .at("/spec/template/spec/containers/0/args")
          .forEach(word -> arguments.add(word.asText()));
      started.add(arguments);
    }
    assertThat(started).extracting(words -> words.get(0)).containsExactly("run", "run", "migrate");
    for (List<String> words : started) {
      assertThat(words).containsSequence("-c", "/etc/fencepost/fencepost.yaml");
    }
    for (String kind : List.of("Deployment", "Job")) {
      JsonNode pod = manifests.get(kind).at("/spec/template/spec");
      JsonNode container = pod.at("/containers/0");
      assertThat(container.path("image").asText()).isEqualTo("fencepost:" + pomVersion());
      assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).as(kind).isTrue();
      assertThat(pod.at("/securityContext/runAsUser").asText())
          .isEqualTo(
              manifests
                  .get("Deployment")
                  .at("/spec/template/spec/securityContext/runAsUser")
                  .asText());
      assertThat(container.at("/securityContext/readOnlyRootFilesystem").asBoolean()).isTrue();
      assertThat(container.path("volumeMounts"))
          .as("what is mounted is declared; the JVM writes to /tmp, the file is where it is read")
          .extracting(mount -> mount.path("name").asText() + " " + mount.path("mountPath").asText())
          .containsExactlyInAnyOrder("configuration /etc/fencepost", "tmp /tmp");
      assertThat(pod.path("volumes"))
          .extracting(volume -> volume.path("name").asText())
          .containsExactlyInAnyOrder("configuration", "tmp");
    }
  }

  /** A process may take as long to start as it waits for its servers, and to stop as it drains. */
  @Test
  void theProbesGiveTimeAndOneIsAlwaysUp() throws IOException {
    Map<String, JsonNode> manifests = manifests();
    JsonNode deployment = manifests.get("Deployment").path("spec");
    JsonNode container = deployment.at("/template/spec/containers/0");
    for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      assertThat(container.at("/" + probe + "/httpGet/port").asText())
          .as(probe)
          .isEqualTo(container.at("/ports/0/name").asText());
    }
    assertThat(container.at("/startupProbe/httpGet/path").asText()).isEqualTo("/health/live");
    assertThat(patience(container, "startupProbe")).isGreaterThanOrEqualTo(60);
    assertThat(patience(container, "livenessProbe"))
        .as("none is killed for a pause after which it would find its leases again")
        .isGreaterThan(DEFAULTS.relay().lease().ttl().toSeconds());
    assertThat(patience(container, "readinessProbe"))
        .isLessThan(patience(container, "livenessProbe"));
    assertThat(manifests.get("Service").at("/spec/ports/0/targetPort").asText())
        .isEqualTo(container.at("/ports/0/name").asText());
    int replicas = deployment.path("replicas").asInt();
    assertThat(deployment.at("/strategy/rollingUpdate/maxUnavailable").asInt()).isZero();
    assertThat(deployment.at("/strategy/rollingUpdate/maxSurge").asInt()).isPositive();
    assertThat(manifests.get("PodDisruptionBudget").at("/spec/maxUnavailable").asInt())
        .as("a drained node waits for one, and one is left")
        .isBetween(1, replicas - 1);
  }

  private static long patience(JsonNode container, String probe) {
    JsonNode asked = container.path(probe);
    return asked.path("periodSeconds").asLong() * asked.path("failureThreshold").asLong();
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
