package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The walk in README.md does what it says: its blocks are run as they stand. */
@Timeout(300)
class ReadmeIT {

  private static final Duration LONG = Duration.ofSeconds(90);
  private static final Path README = Path.of("README.md");
  private static final Pattern BLOCK =
      Pattern.compile("<!-- walk(?<then>[^>]*)-->\\n```sh\\n(?<script>.*?)```", Pattern.DOTALL);
  private static final Pattern LINK = Pattern.compile("\\]\\((?<path>[^)#:]+)\\)");

  @TempDir private Path folder;
  private String database;
  private String broker;
  private int port;

  private record Block(String then, String script) {
    /** What the marker says after {@code word}, or null. */
    String after(String word) {
      return then.contains(word)
          ? then.substring(then.indexOf(word) + word.length()).strip()
          : null;
    }
  }

  @BeforeEach
  void prepare() throws IOException {
    database = TestServers.postgres().newDatabase();
    broker = TestServers.broker().newVhost();
    port = Ports.free();
    Path program = Files.createDirectories(folder.resolve("bin")).resolve("fencepost");
    Files.writeString(
        program,
        "#!/bin/bash\necho $$ >> "
            + folder.resolve("pids")
            + "\nexec "
            + Path.of(System.getProperty("java.home"), "bin", "java")
            + " -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
            + Main.class.getName()
            + " \"$@\"\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
  }

  @AfterEach
  void stopWhatRuns() throws IOException {
    Path pids = folder.resolve("pids");
    if (Files.exists(pids)) {
      for (String pid : Files.readAllLines(pids)) {
        ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
      }
    }
  }

  @Test
  void theWalkGoesAsItSays() throws Exception {
    List<Block> blocks = blocks();
    assertThat(blocks).hasSizeGreaterThan(5);
    for (Block block : blocks) {
      String printed = run(block.script());
      String condition = block.after("until ");
      if ("ready".equals(condition)) {
        Await.until("the service is ready", LONG, () -> ready() == 200);
      } else if (condition != null) {
        Await.until(condition, LONG, () -> holds(condition));
      }
      String expected = block.after("prints ");
      if (expected != null) {
        assertThat(printed).contains(expected);
      }
    }
    assertThat(holds("select count(*) = 1 from audit where doc @> '{\"id\": 7}'")).isTrue();
    assertThat(holds("select count(*) = 0 from audit where doc @> '{\"id\": 8}'")).isTrue();
  }

  @Test
  void everyPageItNamesIsThere() throws IOException {
    Matcher links = LINK.matcher(Files.readString(README));
    List<String> missing = new ArrayList<>();
    while (links.find()) {
      if (!Files.exists(Path.of(links.group("path")))) {
        missing.add(links.group("path"));
      }
    }
    assertThat(missing).isEmpty();
  }

  private List<Block> blocks() throws IOException {
    List<Block> blocks = new ArrayList<>();
    Matcher found = BLOCK.matcher(Files.readString(README));
    while (found.find()) {
      String script = found.group("script").replace("8077", Integer.toString(port));
      blocks.add(new Block(found.group("then"), script));
    }
    return blocks;
  }

  private String run(String script) throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, "block", ".out");
    ProcessBuilder shell =
        new ProcessBuilder("bash", "-euo", "pipefail", "-c", script)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    shell.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    shell.environment().put("FENCEPOST_DATABASE_URI", database);
    shell.environment().put("FENCEPOST_BROKER_URI", broker);
    shell.environment().put("USER", "anna");
    Process process = shell.start();
    assertThat(process.waitFor(LONG.toSeconds(), TimeUnit.SECONDS)).as(script).isTrue();
    String printed = Files.readString(output);
    assertThat(process.exitValue()).as(script + "\n" + printed).isZero();
    return printed;
  }

  private boolean holds(String condition) throws Exception {
    try (Connection connection = PostgresServer.connect(database);
        ResultSet row = connection.createStatement().executeQuery(condition)) {
      return row.next() && row.getBoolean(1);
    }
  }

  private int ready() throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + port + "/health/ready");
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }
}
