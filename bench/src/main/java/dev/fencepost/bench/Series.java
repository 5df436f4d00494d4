package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All entrants in turn, round after round: A B A B, after rounds that only warm up. */
final class Series {

  private final int warmUps;
  private final int rounds;

  Series(int warmUps, int rounds) {
    this.warmUps = warmUps;
    this.rounds = rounds;
  }

  /** The figures of each entrant, one map a round, in the order given. */
  Map<String, List<Map<String, Double>>> run(List<? extends Entrant> entrants) {
    Map<String, List<Map<String, Double>>> results = new LinkedHashMap<>();
    try {
      for (Entrant entrant : entrants) {
        results.put(entrant.name(), new ArrayList<>());
        entrant.start();
        entrant.freeze();
      }
      for (int round = -warmUps; round < rounds; round++) {
        for (Entrant entrant : entrants) {
          entrant.thaw();
          Map<String, Double> figures = entrant.round(round + warmUps);
          entrant.freeze();
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
}
