package dev.fencepost.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** Graphile Worker on Node.js, installed by npm at its first use. */
final class GraphileWorker extends Worker {

  private static final Path SOURCES = Paths.PROJECT.resolve("bench/src/main/node");
  private static final Path INSTALLED = Paths.TARGET.resolve("node");
  private static final List<String> FILES =
      List.of("package.json", "package-lock.json", "graphile-worker.js");

  GraphileWorker(String settings, Servers servers) {
    super(Peer.GRAPHILE_WORKER.word(), settings, servers);
  }

  /** Whether Node.js and npm are here. */
  static boolean isPossible() {
    return succeeds("node", "--version") && succeeds("npm", "--version");
  }

  private static boolean succeeds(String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  double share() {
    return 0.1;
  }

  @Override
  boolean storesJobs() {
    return true;
  }

  @Override
  void prepare() {
    database.execute(PeerWorker.RECEIPTS);
    try {
      install();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void install() throws IOException {
    Path lock = INSTALLED.resolve("package-lock.json");
    boolean fresh =
        Files.exists(INSTALLED.resolve("node_modules/.package-lock.json"))
            && Files.exists(lock)
            && Files.mismatch(lock, SOURCES.resolve("package-lock.json")) < 0;
    Files.createDirectories(INSTALLED);
    for (String file : FILES) {
      Files.copy(
          SOURCES.resolve(file), INSTALLED.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    if (fresh) {
      return;
    }
    JavaProcess npm =
        JavaProcess.command(
            name() + " npm",
            List.of(
                "npm",
                "ci",
                "--prefix",
                INSTALLED.toString(),
                "--ignore-scripts",
                "--no-audit",
                "--no-fund"));
    if (!npm.await(600) || npm.exitValue() != 0) {
      throw new IllegalStateException("npm ci failed\n" + npm.logText());
    }
  }

  @Override
  JavaProcess launch() {
    return JavaProcess.command(
        name(),
        List.of(
            "node",
            INSTALLED.resolve("graphile-worker.js").toString(),
            database.uri(),
            servers.brokerUri(),
            queue.name()));
  }

  @Override
  boolean ready() {
    return process().logText().contains("consuming");
  }

  @Override
  void forgetResults() {
    PeerWorker.forget(database);
  }

  @Override
  long results() {
    return PeerWorker.recorded(database);
  }
}
