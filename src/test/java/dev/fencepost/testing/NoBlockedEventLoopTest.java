package dev.fencepost.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.Extension;

@Timeout(30)
class NoBlockedEventLoopTest {

  @Test
  void aBlockedEventLoopFailsTheTest() throws InterruptedException {
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setMaxEventLoopExecuteTime(20)
                .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS)
                .setBlockedThreadCheckInterval(10)
                .setBlockedThreadCheckIntervalUnit(TimeUnit.MILLISECONDS));
    NoBlockedEventLoop extension = new NoBlockedEventLoop();
    CountDownLatch release = new CountDownLatch(1);
    try {
      vertx.runOnContext(nothing -> awaitQuietly(release));
      Await.until("the test is failed", () -> fails(extension));
    } finally {
      release.countDown();
      Await.result(vertx.close());
      NoBlockedEventLoop.drain();
    }
    extension.afterEach(null);
  }

  @Test
  void everyTestIsWatched() {
    assertThat(ServiceLoader.load(Extension.class))
        .hasAtLeastOneElementOfType(NoBlockedEventLoop.class);
  }

  private static boolean fails(NoBlockedEventLoop extension) {
    try {
      extension.afterEach(null);
      return false;
    } catch (AssertionError e) {
      assertThat(e).hasMessageContaining("eventloop");
      return true;
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
