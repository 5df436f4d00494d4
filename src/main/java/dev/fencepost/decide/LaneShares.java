package dev.fencepost.decide;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Which lanes an instance should own. Every instance computes it by itself from the same records;
 * the leases in the database decide where their views differ.
 */
public final class LaneShares {
  private LaneShares() {}

  /**
   * How many lanes {@code self} should own: an even share. Where it does not divide, the instances
   * that own most keep the lanes too many (then the lower id), so that nothing moves without need.
   *
   * @param owned lanes owned now, per live instance, those without any included
   * @return 0 when {@code self} is not among the live
   */
  public static int share(int lanes, Map<String, Integer> owned, String self) {
    if (!owned.containsKey(self)) {
      return 0;
    }
    List<String> ranked = new ArrayList<>(owned.keySet());
    ranked.sort(
        Comparator.comparing((String id) -> -owned.getOrDefault(id, 0))
            .thenComparing(Comparator.naturalOrder()));
    int extra = lanes % ranked.size();
    return lanes / ranked.size() + (ranked.indexOf(self) < extra ? 1 : 0);
  }

  /** Lanes to drain and hand over: those above the share, the highest first. */
  public static List<Integer> toGiveUp(Collection<Integer> mine, int share) {
    List<Integer> sorted = new ArrayList<>(new TreeSet<>(mine));
    return sorted.size() <= share ? List.of() : List.copyOf(sorted.subList(share, sorted.size()));
  }

  /**
   * Lanes to claim: free ones, up to the share. Each instance begins elsewhere, so that those who
   * start together do not all reach for the same lane.
   *
   * @param free lanes without an owner or with an expired lease
   * @param start any number that differs between instances, such as a hash of the id
   */
  public static List<Integer> toTake(Collection<Integer> free, int mine, int share, int start) {
    List<Integer> sorted = new ArrayList<>(new TreeSet<>(free));
    int wanted = Math.min(sorted.size(), share - mine);
    if (wanted <= 0) {
      return List.of();
    }
    int from = Math.floorMod(start, sorted.size());
    List<Integer> taken = new ArrayList<>(wanted);
    for (int i = 0; i < wanted; i++) {
      taken.add(sorted.get((from + i) % sorted.size()));
    }
    return List.copyOf(taken);
  }
}
