package dev.fencepost.relay;

import dev.fencepost.decide.RefusalPolicy;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Lanes that failed for a fault of ours. Each is left alone for a while before it is taken anew,
 * longer each time that it fails again: whatever made it fail may still be there.
 */
final class Relapses {
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  /** A lane that has run for so long since its last fault has recovered. */
  private static final Duration SOUND = Duration.ofMinutes(5);

  private final LongSupplier nanos;
  private final Map<Integer, Relapse> last = new HashMap<>();

  private record Relapse(int times, long at) {}

  Relapses(LongSupplier nanos) {
    this.nanos = nanos;
  }

  void failed(int lane) {
    Relapse first = new Relapse(1, nanos.getAsLong());
    last.merge(
        lane,
        first,
        (before, now) ->
            now.at() - before.at() < SOUND.toNanos()
                ? new Relapse(before.times() + 1, now.at())
                : now);
  }

  /** Those that are not to be taken yet. */
  Set<Integer> resting() {
    long now = nanos.getAsLong();
    Set<Integer> resting = new HashSet<>();
    last.forEach(
        (lane, relapse) -> {
          Duration pause = RefusalPolicy.backoff(relapse.times(), FIRST, LONGEST);
          if (now - relapse.at() < pause.toNanos()) {
            resting.add(lane);
          }
        });
    return resting;
  }
}
