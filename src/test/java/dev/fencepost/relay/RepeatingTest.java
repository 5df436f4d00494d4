package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RepeatingTest {
  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger ticks = new AtomicInteger();

  @AfterEach
  void close() {
    Await.result(vertx.close());
  }

  private Future<Duration> tick() {
    int tick = ticks.incrementAndGet();
    if (tick == 1) {
      throw new StackOverflowError("an error, no exception");
    }
    return tick == 2 ? null : Future.succeededFuture(Duration.ofDays(1));
  }

  @Test
  void goesOnWhateverATickThrowsOrForgets() {
    Repeating repeating = new Repeating(vertx, "a test", this::tick);
    vertx.getOrCreateContext().runOnContext(v -> repeating.start());

    Await.until("a third tick", () -> ticks.get() == 3);
    Await.result(repeating.stop());
    assertThat(ticks).hasValue(3);
  }
}
