package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RearmedTest {
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final VirtualTimers time = new VirtualTimers();
  private final Rearmed loop = new Rearmed("test", time, this::tick, () -> PAUSE);
  private int ticks;
  private Future<Void> ends = Future.succeededFuture();

  private Future<Void> tick() {
    ticks++;
    return ends;
  }

  @BeforeEach
  void start() {
    loop.start();
  }

  @Test
  void manyWhoWakeItSetOneTimerAndGetOneTick() {
    int before = time.set;
    for (int i = 0; i < 100; i++) {
      loop.wake();
    }
    assertThat(time.set - before).as("each new one would put the tick off").isEqualTo(1);
    time.advance(Duration.ofMillis(1));
    assertThat(ticks).isEqualTo(1);
  }

  @Test
  void aNewPauseDoesNotTakeBackThatItWasWoken() {
    loop.wake();
    loop.rearm();
    time.advance(Duration.ofMillis(1));
    assertThat(ticks).isEqualTo(1);
    time.advance(PAUSE);
    assertThat(ticks).isEqualTo(2);
  }

  @Test
  void aNewPauseDoesNotTakeBackThatItWasWokenDuringATick() {
    Promise<Void> first = Promise.promise();
    ends = first.future();
    time.advance(PAUSE);
    loop.wake();
    first.complete();
    loop.rearm();
    time.advance(Duration.ofMillis(1));
    assertThat(ticks).isEqualTo(2);
  }

  @Test
  void whoWakesItDuringATickThatFailsWaitsForThePause() {
    Promise<Void> first = Promise.promise();
    ends = first.future();
    time.advance(PAUSE);
    loop.wake();
    first.fail("away");
    time.advance(Duration.ofMillis(1));
    assertThat(ticks).isEqualTo(1);
    time.advance(PAUSE);
    assertThat(ticks).isEqualTo(2);
  }
}
