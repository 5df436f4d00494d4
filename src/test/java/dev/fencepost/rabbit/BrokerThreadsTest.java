package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BrokerThreadsTest {
  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final BrokerThreads threads = new BrokerThreads();

  @AfterEach
  void close() {
    threads.close();
    Await.result(vertx.close());
  }

  @Test
  void anErrorFailsTheCallInsteadOfLeavingItOpen() {
    Future<Object> call =
        BrokerThreads.call(
            context,
            threads.blocking(),
            () -> {
              throw new StackOverflowError("an error");
            });

    assertThat(Await.failure(call)).hasMessage("an error");
  }

  @Test
  void aThreadThatCannotBeMadeFailsTheCall() {
    Executor none =
        work -> {
          throw new OutOfMemoryError("no thread");
        };

    assertThat(Await.failure(BrokerThreads.call(context, none, () -> 1))).hasMessage("no thread");
  }

  @Test
  void whatIsDueGoesOnAfterAnError() {
    AtomicInteger runs = new AtomicInteger();
    for (int i = 1; i <= 3; i++) {
      threads.after(
          i,
          () -> {
            runs.incrementAndGet();
            throw new StackOverflowError("an error");
          });
    }

    Await.until("a third run", () -> runs.get() >= 3);
  }

  @Test
  void anInboxTellsOfAFaultAndGoesOn() {
    List<Integer> handled = new CopyOnWriteArrayList<>();
    List<Throwable> faults = new ArrayList<>();
    ContextInbox<Integer> inbox =
        new ContextInbox<>(
            context,
            event -> {
              handled.add(event);
              if (event == 1) {
                throw new StackOverflowError("an error");
              }
            },
            () -> {},
            faults::add);
    inbox.post(1);
    inbox.post(2);

    Await.until("both", () -> handled.size() == 2);
    assertThat(faults).hasSize(1);
  }
}
