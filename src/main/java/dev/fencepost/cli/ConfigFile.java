package dev.fencepost.cli;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option {@code -c FILE}, common to all commands that need servers. */
@SuppressWarnings("NullAway.Init") // picocli sets the field
final class ConfigFile {

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      required = true,
      description = "The configuration, such as conf/fencepost.yaml.")
  private Path file;

  Path path() {
    return file;
  }

  /**
   * @throws dev.fencepost.config.ConfigFaults with every fault of it
   */
  FencepostConfig load() {
    return ConfigLoader.load(file, System.getenv());
  }
}
