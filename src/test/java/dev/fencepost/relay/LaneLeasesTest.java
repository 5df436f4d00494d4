package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.LeaseRules;
import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Lanes that come late, or when they are not wanted any more. */
class LaneLeasesTest {
  private final Promise<List<LaneStore.Taken>> taking = Promise.promise();
  private final Promise<Void> releasing = Promise.promise();
  private final Fleet fleet = new Fleet();
  private final LaneLeases leases =
      new LaneLeases(store(), new RelaySettings("me", RelayConfigs.relay(1)), fleet);
  private @Nullable Object released;
  private int renewals;
  private int takes;
  private boolean left;

  @Test
  void aLaneThatIsTakenWhileItLeavesIsGivenBackBeforeItHasLeft() {
    leases.tick();
    fleet.accepting = false;
    Future<Void> leaving = leases.leave();
    taking.complete(List.of(taken()));

    assertThat(fleet.taken).isZero();
    assertThat(released).isEqualTo(Map.of(0, 7L));
    assertThat(left).as("who leaves waits for it").isFalse();
    releasing.complete();
    assertThat(leaving.succeeded()).isTrue();
    assertThat(left).isTrue();
  }

  @Test
  void aLaneThatIsTakenInTimeIsBegun() {
    Future<Duration> tick = leases.tick();
    taking.complete(List.of(taken()));

    assertThat(tick.succeeded()).isTrue();
    assertThat(fleet.taken).isOne();
    assertThat(released).isNull();
  }

  /** As over a connection of the pool that is half open: those that it has would be lost, too. */
  @Test
  void aTakingThatIsNotAnsweredHoldsUpNoRenewal() {
    Future<Duration> tick = leases.tick();
    assertThat(takes).isOne();
    assertThat(tick.succeeded()).as("the next renewal has its time").isTrue();
    assertThat(tick.result()).isLessThanOrEqualTo(RelayConfigs.LEASE.renewEvery());

    assertThat(leases.tick().result()).isEqualTo(RelayConfigs.LEASE.renewEvery());
    assertThat(renewals).isEqualTo(2);
    assertThat(takes).as("two at a time").isOne();
  }

  /** Its trust counts from before it was asked for, however late the answer. */
  @Test
  void aLaneThatComesLateIsTrustedFromWhenItWasAskedFor() {
    long before = System.nanoTime();
    leases.tick();
    long asked = System.nanoTime();
    leases.tick();
    taking.complete(List.of(taken()));

    Duration ttl = RelayConfigs.LEASE.ttl();
    long trusted = LeaseRules.trustUntil(0, ttl, LeaseRules.margin(ttl));
    assertThat(fleet.trust).isNotNull();
    assertThat(fleet.trust.nanoTime()).isBetween(before + trusted, asked + trusted);
  }

  @Test
  void aTakingThatFailedIsMadeAgain() {
    leases.tick();
    taking.fail(new FencepostException(FailureKind.TIMEOUT, "no answer"));
    assertThat(leases.tick().succeeded()).isTrue();
    assertThat(takes).isEqualTo(2);
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
                  case "renew" -> {
                    renewals++;
                    yield Future.succeededFuture(standing);
                  }
                  case "take" -> {
                    takes++;
                    yield taking.future();
                  }
                  case "leave" -> {
                    left = true;
                    yield Future.succeededFuture();
                  }
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
    private Publisher.@Nullable TrustDeadline trust;

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
      this.trust = trust;
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
