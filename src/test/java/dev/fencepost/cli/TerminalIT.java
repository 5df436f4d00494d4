package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Progress of each long command on a real terminal, and none of it in a pipe. */
class TerminalIT {

  private static final String ERASE = "\r\u001b[K";

  @TempDir private Path folder;

  /** What takes long. */
  private enum Long {
    MIGRATE("migrating, 0 s …", "applied 1", "migrate"),
    REPLAY("replayed 3 …", "3 rows replayed", "outbox", "replay", "--since", "1h"),
    REDRIVE("redriven 3 …", "3 redriven", "dead-letters", "redrive", "--all", "--operator", "anna"),
    DEMO("events \\d+ of \\d+", "Everything is as it must be.", "demo", "--events", "100");

    private final String progress;
    private final String result;
    private final List<String> words;

    Long(String progress, String result, String... words) {
      this.progress = progress;
      this.result = result;
      this.words = List.of(words);
    }
  }

  private List<String> command(Long command) throws IOException {
    List<String> line =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                Main.class.getName()));
    line.addAll(command.words);
    if (command != Long.DEMO) {
      line.addAll(List.of("-c", prepared(command).toString()));
    }
    return line;
  }

  /** A database with three rows to replay and three dead letters to redrive. */
  private Path prepared(Long command) throws IOException {
    String uri = TestServers.postgres().newDatabase();
    Path file = folder.resolve("fencepost.yaml");
    Files.writeString(file, "database: {uris: [\"" + uri + "\"]}\n");
    if (command == Long.MIGRATE) {
      return file;
    }
    PrintWriter nowhere = new PrintWriter(PrintWriter.nullWriter());
    assertThat(Main.run(nowhere, nowhere, "migrate", "-c", file.toString())).isZero();
    PostgresServer.execute(
        uri,
        "insert into fencepost.outbox (type, payload) select 't', '' from generate_series(1, 3)",
        "insert into fencepost.activity (consumer, event_id, type, kind, state, generation)"
            + " select 'mail', 'e-' || g, 't', 'pure', 'dead', 1 from generate_series(1, 3) g",
        "insert into fencepost.dead_letter (consumer, event_id, generation, type, reason, attempts,"
            + " headers, properties, body) select 'mail', 'e-' || g, 1, 't', 'retries_exhausted', 4,"
            + " '{}', '{}', '\\x7b7d' from generate_series(1, 3) g");
    return file;
  }

  /** As it is delivered: with its own logging, not that of the tests. */
  private static String product() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(part -> !part.contains("test-classes"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private String printed(List<String> command) throws Exception {
    Path out = folder.resolve("printed");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().put("CLASSPATH", product());
    Process process = builder.start();
    process.getOutputStream().close();
    assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(out)).isZero();
    return Files.readString(out);
  }

  @ParameterizedTest
  @EnumSource
  void aTerminalSeesProgress(Long command) throws Exception {
    Path script = Path.of("/usr/bin/script");
    assumeThat(script).exists();

    String printed =
        printed(
            List.of(script.toString(), "-qec", String.join(" ", command(command)), "/dev/null"));

    assertThat(printed).containsPattern("\r(\u001b\\[K)?" + command.progress);
    assertThat(printed.substring(printed.lastIndexOf(ERASE)))
        .as("the line is gone when the result comes")
        .contains(command.result)
        .doesNotContainPattern(command.progress);
  }

  @ParameterizedTest
  @EnumSource
  void aPipeSeesResultsOnly(Long command) throws Exception {
    String printed = printed(command(command));

    assertThat(printed)
        .doesNotContain("\u001b", "\r", "…")
        .doesNotContainPattern(command.progress)
        .contains(command.result);
  }
}
