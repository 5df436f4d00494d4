package dev.fencepost.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StepsTest {
  private static final int MANY = 100_000;
  private final AtomicInteger taken = new AtomicInteger();

  @Test
  void stepsThatEndAtOnceUseNoStack() {
    Future<Void> end = Steps.until(() -> Future.succeededFuture(taken.incrementAndGet() < MANY));

    assertThat(end.succeeded()).isTrue();
    assertThat(taken).hasValue(MANY);
  }

  @Test
  void stepsThatEndLaterUseNoStack() {
    Vertx vertx = Vertx.vertx();
    try {
      Await.result(
          Steps.until(
              () -> {
                Promise<Boolean> later = Promise.promise();
                vertx.runOnContext(v -> later.complete(taken.incrementAndGet() < MANY));
                return later.future();
              }));
      assertThat(taken).hasValue(MANY);
    } finally {
      Await.result(vertx.close());
    }
  }

  @Test
  void aFailureEndsIt() {
    Future<Void> failed =
        Steps.until(
            () ->
                taken.incrementAndGet() < 3
                    ? Future.succeededFuture(true)
                    : Future.failedFuture("third"));
    Future<Void> thrown =
        Steps.until(
            () -> {
              throw new IllegalStateException("at once");
            });

    assertThat(failed.cause()).hasMessage("third");
    assertThat(thrown.cause()).hasMessage("at once");
  }
}
