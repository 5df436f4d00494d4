package dev.fencepost.handlers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.NotStarted;
import dev.fencepost.model.RunFailure;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerOptions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RemoteBreakerTest {
  private final HttpFixture fixture = new HttpFixture();
  private int port;
  private BoundHandler.Async handler;

  @BeforeEach
  void takeAPort() {
    port = Ports.free();
    handler =
        fixture.async(fixture.config("http://127.0.0.1:" + port + "/", Duration.ofSeconds(5)));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void opensWhenTheRemoteIsAwayAndClosesWhenItIsBack() {
    for (int i = 0; i < RemoteBreaker.FAILURES; i++) {
      assertThat(handler.admission().closedFor()).isEmpty();
      assertThat(run()).isInstanceOf(RunFailure.class).isNotInstanceOf(NotStarted.class);
    }
    assertThat(handler.admission().closedFor())
        .hasValueSatisfying(
            left -> assertThat(left).isBetween(Duration.ofMillis(1), RemoteBreaker.OPEN_FOR));
    assertThat(run())
        .isInstanceOfSatisfying(
            NotStarted.class, f -> assertThat(f.retryAfter()).isEqualTo(RemoteBreaker.OPEN_FOR));

    Await.until("half open", () -> handler.admission().closedFor().isEmpty());
    assertThat(handler.admission().closedFor()).as("one trial only").isPresent();
    assertThat(run()).as("the trial").isNotInstanceOf(NotStarted.class);
    assertThat(run()).as("open again").isInstanceOf(NotStarted.class);

    try (Remote back = Remote.start(HttpFixture.VERTX, new HttpServerOptions(), port)) {
      Await.until("half open", () -> handler.admission().closedFor().isEmpty());
      assertThat(run()).isNull();
      assertThat(handler.admission().closedFor()).isEmpty();
      assertThat(run()).isNull();
      assertThat(back.seen).hasSize(2);
    }
  }

  @Test
  void answersOfAnyStatusAndLostConnectionsKeepItClosed() {
    try (Remote remote = Remote.start(HttpFixture.VERTX, new HttpServerOptions(), port)) {
      remote.answers(503, "");
      for (int i = 0; i < 2 * RemoteBreaker.FAILURES; i++) {
        run();
      }
      remote.does(request -> request.connection().close());
      for (int i = 0; i < 2 * RemoteBreaker.FAILURES; i++) {
        run();
      }
      assertThat(remote.seen).hasSize(4 * RemoteBreaker.FAILURES);
    }
    assertThat(handler.admission().closedFor()).isEmpty();
  }

  @Test
  void activitiesOfOneRemoteShareItAndOthersHaveTheirOwn() {
    for (int i = 0; i < RemoteBreaker.FAILURES; i++) {
      run();
    }
    BoundHandler.Async same =
        fixture.async(fixture.config("http://127.0.0.1:" + port + "/b", Duration.ofSeconds(5)));
    BoundHandler.Async other =
        fixture.async(fixture.config("http://127.0.0.1:1/", Duration.ofSeconds(5)));

    assertThat(same.admission().closedFor()).isPresent();
    assertThat(other.admission().closedFor()).isEmpty();
  }

  private Throwable run() {
    Future<?> run = HttpFixture.onContext(() -> handler.handler().run(FakeContext.of("e", "x")));
    return Await.result(run.transform(done -> Future.succeededFuture(done.cause())));
  }
}
