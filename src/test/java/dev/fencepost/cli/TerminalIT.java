package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.fencepost.testing.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Progress on a real terminal, and none of it in a pipe. */
class TerminalIT {

  private static final String ERASE = "\r\u001b[K";

  @TempDir private Path folder;

  private List<String> migrate() throws IOException {
    Path file = folder.resolve("fencepost.yaml");
    Files.writeString(
        file, "database: {uris: [\"" + TestServers.postgres().newDatabase() + "\"]}\n");
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        Main.class.getName(),
        "migrate",
        "-c",
        file.toString());
  }

  private String printed(List<String> command) throws Exception {
    Path out = folder.resolve("printed");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    Process process = builder.start();
    process.getOutputStream().close();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(out)).isZero();
    return Files.readString(out);
  }

  @Test
  void aTerminalSeesProgress() throws Exception {
    Path script = Path.of("/usr/bin/script");
    assumeThat(script).exists();
    List<String> inTerminal =
        new ArrayList<>(List.of(script.toString(), "-qec", String.join(" ", migrate())));
    inTerminal.add("/dev/null");

    String printed = printed(inTerminal);

    assertThat(printed).contains(ERASE + "migrating, 0 s …");
    assertThat(printed.substring(printed.lastIndexOf(ERASE)))
        .as("the line is gone when the result comes")
        .contains("applied 1");
  }

  @Test
  void aPipeSeesResultsOnly() throws Exception {
    String printed = printed(migrate());

    assertThat(printed).doesNotContain("\u001b", "\r", "migrating").contains("applied 1");
    assertThat(printed.lines()).hasSize(1);
  }
}
