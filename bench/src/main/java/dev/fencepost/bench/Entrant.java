package dev.fencepost.bench;

import java.util.Map;

/** What takes its turn in each round of a scenario. */
interface Entrant extends AutoCloseable {

  String name();

  String settings();

  void start();

  /** Measures once; figures by the keys of {@link Figures}. */
  Map<String, Double> round(int number);

  /** Costs nothing until {@link #thaw()}. */
  void freeze();

  void thaw();

  /** What it runs in, once started; null when it has no process that lasts. */
  default JavaProcess process() {
    return null;
  }

  @Override
  void close();
}
