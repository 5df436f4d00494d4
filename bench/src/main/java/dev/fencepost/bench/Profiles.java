package dev.fencepost.bench;

import dev.fencepost.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import one.profiler.AsyncProfilerLoader;

/**
 * Flame graphs of the product's process over the rounds that count, its threads apart. The time it
 * is frozen costs it no samples.
 */
final class Profiles {

  /** Needs no permission of the kernel's, and no perf events. */
  private static final String CPU_TIME = "ctimer";

  private static final Duration START = Duration.ofMinutes(1);

  private final String scenario;
  private final boolean wanted;

  Profiles(String scenario, boolean wanted) {
    this.scenario = scenario;
    this.wanted = wanted;
  }

  void begin(Entrant entrant) {
    if (!applies(entrant)) {
      return;
    }
    try {
      // A JVM that has only just begun has no interface for tools yet.
      Await.asserted(
          "profiling of " + entrant.name() + " has started",
          START,
          () -> tell(entrant, "start", "-e", CPU_TIME, "-t"));
    } catch (AssertionError e) {
      throw new IllegalStateException(e);
    }
  }

  void end(Entrant entrant) {
    if (!applies(entrant)) {
      return;
    }
    Path stacks = file(entrant, ".collapsed");
    Path graph = file(entrant, ".html");
    try {
      Files.createDirectories(Paths.PROFILES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    tell(entrant, "dump", "-o", "collapsed", "-t", "-f", stacks.toString());
    tell(entrant, "stop", "-o", "flamegraph", "-t", "-f", graph.toString());
    System.out.println("  profile of " + entrant.name() + ": " + graph);
  }

  private boolean applies(Entrant entrant) {
    JavaProcess process = wanted ? entrant.process() : null;
    return process != null && process.isProduct();
  }

  private Path file(Entrant entrant, String suffix) {
    return Paths.PROFILES.resolve(scenario + "-" + Paths.word(entrant.name()) + suffix);
  }

  private static void tell(Entrant entrant, String... words) {
    List<String> line = new ArrayList<>(List.of(words));
    line.add(Long.toString(entrant.process().pid()));
    try {
      AsyncProfilerLoader.executeProfiler(line.toArray(String[]::new));
    } catch (IOException e) {
      throw new UncheckedIOException("profiling " + entrant.name(), e);
    }
  }
}
