package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Lanes that come when they are not wanted any more. */
class LaneLeasesTest {
  private final Promise<List<LaneStore.Taken>> taking = Promise.promise();
  private final Promise<Void> releasing = Promise.promise();
  private final Fleet fleet = new Fleet();
  private @Nullable Object released;

  @Test
  void aLaneThatIsTakenWhileItLeavesIsGivenBackBeforeItHasLeft() {
    Future<Duration> tick =
        new LaneLeases(store(), new RelaySettings("me", RelayConfigs.relay(1)), fleet).tick();
    fleet.accepting = false;
    taking.complete(List.of(taken()));

    assertThat(fleet.taken).isZero();
    assertThat(released).isEqualTo(Map.of(0, 7L));
    assertThat(tick.isComplete()).as("who leaves waits for it").isFalse();
    releasing.complete();
    assertThat(tick.succeeded()).isTrue();
  }

  @Test
  void aLaneThatIsTakenInTimeIsBegun() {
    Future<Duration> tick =
        new LaneLeases(store(), new RelaySettings("me", RelayConfigs.relay(1)), fleet).tick();
    taking.complete(List.of(taken()));

    assertThat(tick.succeeded()).isTrue();
    assertThat(fleet.taken).isOne();
    assertThat(released).isNull();
  }

  private static LaneStore.Taken taken() {
    Cursor cursor = new Cursor(Snapshot.of(100), 0, Map.of(), null, 0);
    return new LaneStore.Taken(
        "life", new Checkpoint(0, 6, 0, -1, cursor), 7, Set.of(), Set.of(), Set.of(), Map.of());
  }

  /** One lane, and nobody who owns it. */
  private LaneStore store() {
    LaneStore.Standing standing =
        new LaneStore.Standing(Map.of(), Map.of("me", 0), Set.of(0), Set.of(), null, 0);
    return (LaneStore)
        Proxy.newProxyInstance(
            LaneStore.class.getClassLoader(),
            new Class<?>[] {LaneStore.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "renew" -> Future.succeededFuture(standing);
                  case "take" -> taking.future();
                  case "release" -> {
                    released = arguments[1];
                    yield releasing.future();
                  }
                  default -> throw new AssertionError(method);
                });
  }

  private static final class Fleet implements LaneLeases.Fleet {
    private boolean accepting = true;
    private int taken;

    @Override
    public void parked(long rows) {}

    @Override
    public Duration lookAgain() {
      return Duration.ofSeconds(1);
    }

    @Override
    public boolean accepting() {
      return accepting;
    }

    @Override
    public Map<Integer, LaneLoop> lanes() {
      return Map.of();
    }

    @Override
    public Set<Integer> leaving() {
      return Set.of();
    }

    @Override
    public void take(LaneStore.Taken lane, Publisher.TrustDeadline trust) {
      taken++;
    }

    @Override
    public void lost(int lane) {}

    @Override
    public void handOver(List<Integer> lanes) {}

    @Override
    public Set<Integer> resting() {
      return Set.of();
    }
  }
}
