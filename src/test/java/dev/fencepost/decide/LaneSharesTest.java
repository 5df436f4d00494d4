package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LaneSharesTest {
  @Test
  void anInstanceThatIsNotAliveOwnsNothing() {
    assertThat(LaneShares.share(8, Map.of("a", 8), "b")).isZero();
  }

  @Test
  void whoOwnsTheLanesTooManyKeepsThem() {
    Map<String, Integer> owned = Map.of("a", 2, "b", 3, "c", 3);
    assertThat(LaneShares.share(8, owned, "a")).isEqualTo(2);
    assertThat(LaneShares.share(8, owned, "b")).isEqualTo(3);
    assertThat(LaneShares.share(8, owned, "c")).isEqualTo(3);
  }

  @Property
  void sharesAreEvenAndCoverAllLanes(
      @ForAll @IntRange(min = 1, max = 64) int lanes,
      @ForAll @IntRange(min = 1, max = 20) int instances,
      @ForAll long seed) {
    Random random = new Random(seed);
    Map<String, Integer> owned = new HashMap<>();
    for (int i = 0; i < instances; i++) {
      owned.put("i" + i, random.nextInt(lanes + 1));
    }
    int sum = 0;
    for (String id : owned.keySet()) {
      int share = LaneShares.share(lanes, owned, id);
      assertThat(share).isBetween(lanes / instances, (lanes + instances - 1) / instances);
      sum += share;
    }
    assertThat(sum).isEqualTo(lanes);
  }

  @Property
  void instancesThatJoinAndLeaveReachAnEvenShareAndThenRest(
      @ForAll @IntRange(min = 1, max = 32) int lanes,
      @ForAll @IntRange(min = 1, max = 8) int instances,
      @ForAll long seed) {
    Random random = new Random(seed);
    Map<String, Set<Integer>> owners = new TreeMap<>();
    for (int i = 0; i < instances; i++) {
      owners.put("i" + i, new TreeSet<>());
    }
    for (int lane = 0; lane < lanes; lane++) { // any uneven start, some lanes without an owner
      if (random.nextBoolean()) {
        owners.get("i" + random.nextInt(instances)).add(lane);
      }
    }
    int rounds = 0;
    while (turn(lanes, owners)) {
      assertThat(++rounds).as("turns until at rest").isLessThan(5);
    }
    assertThat(owners.values())
        .allSatisfy(
            mine ->
                assertThat(mine.size())
                    .isBetween(lanes / instances, (lanes + instances - 1) / instances));
    assertThat(owners.values().stream().mapToInt(Set::size).sum()).isEqualTo(lanes);
  }

  /** One turn of every instance, one after the other; whether anything moved. */
  private static boolean turn(int lanes, Map<String, Set<Integer>> owners) {
    boolean moved = false;
    for (String self : owners.keySet()) {
      Map<String, Integer> counts = new HashMap<>();
      owners.forEach((id, mine) -> counts.put(id, mine.size()));
      Set<Integer> mine = owners.get(self);
      int share = LaneShares.share(lanes, counts, self);
      List<Integer> givenUp = LaneShares.toGiveUp(mine, share);
      givenUp.forEach(mine::remove);
      List<Integer> free = new ArrayList<>();
      for (int lane = 0; lane < lanes; lane++) {
        int wanted = lane;
        if (owners.values().stream().noneMatch(o -> o.contains(wanted))) {
          free.add(lane);
        }
      }
      List<Integer> taken = LaneShares.toTake(free, mine.size(), share, self.hashCode());
      assertThat(free).containsAll(taken);
      mine.addAll(taken);
      moved |= !givenUp.isEmpty() || !taken.isEmpty();
    }
    return moved;
  }
}
