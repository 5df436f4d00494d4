package dev.fencepost.bench;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Where things are; {@code bench/run} says where the project is. */
final class Paths {

  static final Path PROJECT = Path.of(System.getProperty("bench.project", ".")).toAbsolutePath();
  static final Path TARGET = PROJECT.resolve("bench/target");
  static final Path RESULTS = TARGET.resolve("results");
  static final Path PROFILES = TARGET.resolve("profiles");
  static final Path RUN = TARGET.resolve("run");

  /** Peers log what is wrong, and nothing else. */
  static final Path PEERS_LOG = PROJECT.resolve("bench/logback.xml");

  static final Path NOTE = PROJECT.resolve("docs/performance.md");

  private static final String CLASSES = TARGET.resolve("classes").toString();

  private Paths() {}

  /** The commit that is measured, with a mark when code differs from it; "unknown" without Git. */
  static String commit() {
    String commit = git("rev-parse", "--short", "HEAD");
    String changed = git("status", "--porcelain", "--", "src", "bench", "bin", "pom.xml");
    return commit.isEmpty() ? "unknown" : commit + (changed.isEmpty() ? "" : " and changes");
  }

  private static String git(String... arguments) {
    List<String> line = new ArrayList<>(List.of("git", "-C", PROJECT.toString()));
    line.addAll(List.of(arguments));
    try {
      Process git =
          new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      return new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "";
    }
  }

  /** A name of a contender's as part of others': of a file, a queue or a property. */
  static String word(String name) {
    return name.replaceAll("[^A-Za-z0-9.-]+", "-");
  }

  /** A file of a run, named after whose it is. */
  static Path run(String name, String suffix) {
    return RUN.resolve(word(name) + suffix);
  }

  /** The product with the benchmark's handlers, and nothing else. */
  static String product() {
    return CLASSES + File.pathSeparator + PROJECT.resolve("target/fencepost.jar");
  }

  /** Peers with their libraries, without the product. */
  static String peers() {
    return CLASSES + File.pathSeparator + TARGET.resolve("lib") + File.separator + "*";
  }
}
