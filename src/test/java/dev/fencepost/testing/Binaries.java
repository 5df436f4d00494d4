package dev.fencepost.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Where the servers are installed, and as whom they may run. */
final class Binaries {

  private static final Path DEBIAN_POSTGRES = Path.of("/usr/lib/postgresql");
  // Not the ones on the path: Debian's wrappers insist on its own user and folders.
  private static final Path DEBIAN_RABBIT = Path.of("/usr/lib/rabbitmq/bin");

  private Binaries() {}

  /** The folder of the newest PostgreSQL. */
  static Path postgres() {
    return debianPostgres()
        .or(() -> onPath("initdb"))
        .orElseThrow(() -> new IllegalStateException(missing("PostgreSQL", "postgresql")));
  }

  /** The folder of RabbitMQ's scripts. */
  static Path rabbit() {
    return Optional.of(DEBIAN_RABBIT)
        .filter(Files::isDirectory)
        .or(() -> onPath("rabbitmq-server"))
        .orElseThrow(() -> new IllegalStateException(missing("RabbitMQ", "rabbitmq-server")));
  }

  /**
   * PostgreSQL refuses to run as root: the {@code uid:gid} it runs as then, or null to stay who we
   * are.
   */
  static String serverUser() {
    if (!"root".equals(System.getProperty("user.name"))) {
      return null;
    }
    return passwd("postgres")
        .or(() -> passwd("nobody"))
        .orElseThrow(() -> new IllegalStateException("no user but root to run PostgreSQL as"));
  }

  private static Optional<String> passwd(String user) {
    try (Stream<String> users = Files.lines(Path.of("/etc/passwd"))) {
      return users
          .filter(line -> line.startsWith(user + ":"))
          .map(line -> line.split(":", -1))
          .map(fields -> fields[2] + ":" + fields[3])
          .findFirst();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<Path> debianPostgres() {
    if (!Files.isDirectory(DEBIAN_POSTGRES)) {
      return Optional.empty();
    }
    try (Stream<Path> versions = Files.list(DEBIAN_POSTGRES)) {
      return versions
          .filter(version -> Files.isExecutable(version.resolve("bin/initdb")))
          .max(Comparator.comparing(version -> version.getFileName().toString()))
          .map(version -> version.resolve("bin"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<Path> onPath(String program) {
    return List.of(System.getenv("PATH").split(":")).stream()
        .map(Path::of)
        .filter(folder -> Files.isExecutable(folder.resolve(program)))
        .findFirst();
  }

  private static String missing(String what, String debianPackage) {
    return what + " is not installed: bin/check installs Debian's package " + debianPackage;
  }
}
