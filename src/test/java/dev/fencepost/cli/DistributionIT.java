package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The distribution that {@code -Ddist} has built, unpacked and run. */
@EnabledIfSystemProperty(named = "fencepost.distribution", matches = ".+")
class DistributionIT {

  @TempDir private static Path folder;
  private static Path home;

  private record Ran(int code, String said) {}

  @BeforeAll
  static void unpack() throws Exception {
    String archive = System.getProperty("fencepost.distribution");
    Ran tar = run("tar", "-xzf", archive, "-C", folder.toString());
    assertThat(tar.code()).as(tar.said()).isZero();
    String name = Path.of(archive).getFileName().toString().replace(".tar.gz", "");
    home = folder.resolve(name);
  }

  private static Ran run(String... command) throws Exception {
    File said = Files.createTempFile(folder, "said", null).toFile();
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(said)
            .start();
    assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
    return new Ran(process.exitValue(), Files.readString(said.toPath()));
  }

  private static Ran fencepost(String... arguments) throws Exception {
    String[] command = new String[arguments.length + 1];
    command[0] = home.resolve("bin/fencepost").toString();
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return run(command);
  }

  @Test
  void holdsWhatItsUsersNeed() {
    for (String part :
        new String[] {
          "README.md",
          "LICENSE",
          "conf/fencepost.yaml",
          "conf/grafana/fencepost.json",
          "conf/prometheus/alerts.yaml",
          "docs/triage.md",
          "docs/deployment.md",
          "deploy/systemd/fencepost.service"
        }) {
      assertThat(home.resolve(part)).exists();
    }
    assertThat(home.resolve("src")).doesNotExist();
  }

  @Test
  void runsFromWhereItWasUnpacked() throws Exception {
    Ran version = fencepost("--version");
    assertThat(version.code()).as(version.said()).isZero();
    assertThat(version.said()).contains(home.getFileName().toString().replace("-", " "));
    assertThat(fencepost("--help").said()).contains("Usage: fencepost", "dead-letters");
    Ran check = fencepost("check-config", "-c", home.resolve("conf/fencepost.yaml").toString());
    assertThat(check.code()).as(check.said()).isZero();
    assertThat(check.said()).contains("no faults");
  }

  @Test
  void showsTheWholeProduct() throws Exception {
    Ran demo = fencepost("demo", "--events", "100", "--json");
    assertThat(demo.code()).as(demo.said()).isZero();
    assertThat(demo.said().lines())
        .anyMatch(line -> line.startsWith("{\"expected\":") && line.endsWith("\"agree\":true}"));
  }

  @Test
  void findsItsMigrations() throws Exception {
    Path file = folder.resolve("away.yaml");
    Files.writeString(file, "database: {uris: [\"postgresql://127.0.0.1:1/none\"]}\n");
    Ran away = fencepost("migrate", "-c", file.toString());
    assertThat(away.code()).as(away.said()).isEqualTo(ExitCode.OUT_OF_REACH);
  }
}
