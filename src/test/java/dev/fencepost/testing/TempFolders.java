package dev.fencepost.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Folders of test servers, named after the JVM that owns them. */
final class TempFolders {

  private static final String PREFIX = "fencepost-test-";

  private TempFolders() {}

  /** A new folder that goes with this JVM; others may enter: a server may run as another user. */
  static Path create(String name) {
    sweep();
    try {
      Path folder =
          Files.createTempDirectory(PREFIX + ProcessHandle.current().pid() + "-" + name + "-");
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes what it can: a dying server may still write. */
  static void delete(Path folder) {
    for (int attempt = 0; attempt < 3 && Files.exists(folder); attempt++) {
      try (Stream<Path> files = Files.walk(folder)) {
        files.sorted(Comparator.reverseOrder()).forEach(TempFolders::deleteQuietly);
      } catch (IOException | UncheckedIOException e) {
        // Files went away during the walk; the next attempt sees what is left.
      }
    }
  }

  /** A JVM that was killed left its folders behind. */
  private static void sweep() {
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    List<Path> stale;
    try (Stream<Path> entries = Files.list(parent)) {
      stale = entries.filter(TempFolders::isStale).toList();
    } catch (IOException | UncheckedIOException e) {
      return;
    }
    stale.forEach(TempFolders::delete);
  }

  private static boolean isStale(Path folder) {
    String name = folder.getFileName().toString();
    if (!name.startsWith(PREFIX)) {
      return false;
    }
    String pid = name.substring(PREFIX.length()).split("-", 2)[0];
    return pid.matches("\\d{1,18}") && ProcessHandle.of(Long.parseLong(pid)).isEmpty();
  }

  private static void deleteQuietly(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // Reported by nobody: the folder is temporary anyway.
    }
  }
}
