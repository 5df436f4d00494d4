package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All entrants in turn, round after round: A B A B, after rounds that only warm up. */
final class Series {

  private final int warmUps;
  private final int rounds;
  private final Profiles profiles;

  Series(int warmUps, int rounds, Profiles profiles) {
    this.warmUps = warmUps;
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
        for (Entrant entrant : entrants) {
          Map<String, Double> figures = turn(entrant, round);
          Report.progress(round, entrant.name(), figures);
          if (round >= 0) {
            results.get(entrant.name()).add(figures);
          }
        }
      }
      return results;
    } finally {
      entrants.forEach(Entrant::close);
    }
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
}
