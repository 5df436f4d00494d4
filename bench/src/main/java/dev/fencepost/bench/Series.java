package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** All entrants in turn, round after round: A B A B, after rounds that only warm up. */
final class Series {

  private final int warmUps;
  private final int ageing;
  private final int rounds;
  private final Profiles profiles;

  /**
   * @param warmUps rounds before those that count
   * @param ageing seconds between the two, in which all are at work and nobody is frozen
   */
  Series(int warmUps, int ageing, int rounds, Profiles profiles) {
    this.warmUps = warmUps;
    this.ageing = ageing;
    this.rounds = rounds;
    this.profiles = profiles;
  }

  /** The figures of each entrant, one map a round, in the order given. */
  Map<String, List<Map<String, Double>>> run(List<? extends Entrant> entrants) {
    Map<String, List<Map<String, Double>>> results = new LinkedHashMap<>();
    try {
      for (Entrant entrant : entrants) {
        results.put(entrant.name(), new ArrayList<>());
        entrant.start();
        // Only while it runs can it be told to start and stop profiling.
        if (warmUps == 0) {
          profiles.begin(entrant);
        }
        entrant.freeze();
      }
      for (int round = -warmUps; round < rounds; round++) {
        if (round == 0 && ageing > 0) {
          age(entrants);
        }
        for (Entrant entrant : entrants) {
          Map<String, Double> figures = turn(entrant, round);
          Report.progress(round, entrant.name(), figures);
          if (round >= 0) {
            results.get(entrant.name()).add(figures);
          }
        }
      }
    } catch (RuntimeException | Error e) {
      Closing.all(entrants, e);
      throw e;
    }
    Closing.all(entrants);
    return results;
  }

  private Map<String, Double> turn(Entrant entrant, int round) {
    entrant.thaw();
    Map<String, Double> figures = entrant.round(round + warmUps);
    if (round == -1) {
      profiles.begin(entrant);
    }
    if (round == rounds - 1) {
      profiles.end(entrant);
    }
    entrant.freeze();
    return figures;
  }

  private void age(List<? extends Entrant> entrants) {
    entrants.forEach(Entrant::thaw);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ageing);
    int number = 0;
    while (System.nanoTime() < end) {
      for (Entrant entrant : entrants) {
        entrant.round(warmUps + number);
      }
      number++;
    }
    entrants.forEach(Entrant::freeze);
    System.out.printf("  aged %d s, %d rounds each%n", ageing, number);
  }
}
