package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every form of Java handler, of every kind, that throws at once, fails with an exception that is
 * broken itself, returns null, never completes, completes twice or blocks the loop: its event ends
 * as its kind allows, a line of the log names it, and the worker goes on.
 */
class MisbehavingHandlersTest {
  private static final Duration BLOCKED = Duration.ofSeconds(3);
  private static final Set<Misdeed> ON_A_THREAD =
      Set.of(Misdeed.THROWS, Misdeed.TELLS_NOTHING, Misdeed.GOES_ROUND, Misdeed.NULL);

  /** What the handler of the bad event does, in the forms that can. */
  enum Misdeed {
    THROWS("odd"),
    TELLS_NOTHING("Speechless: message unavailable"),
    GOES_ROUND("a cause of itself"),
    NULL("the handler returned null instead of a receipt"),
    NULL_INSIDE("the handler returned null instead of a receipt"),
    NEVER("hard-limit event=bad"),
    TWICE("returned a second time"),
    BLOCKS("blocked the event loop for 3000ms");

    private final String named;

    Misdeed(String named) {
      this.named = named;
    }
  }

  /** An exception of a user whose own code fails. */
  private static final class Speechless extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new NoClassDefFoundError("message");
    }

    @Override
    public Throwable getCause() {
      throw new IllegalStateException("cause");
    }

    @Override
    public String toString() {
      throw new IllegalStateException("string");
    }
  }

  private final Bench bench = new Bench();
  @RegisterExtension private final WorkerLines log = new WorkerLines();

  static Stream<Arguments> onTheLoop() {
    List<Arguments> all = new ArrayList<>();
    for (ActivityKind kind : ActivityKind.values()) {
      for (Misdeed misdeed : Misdeed.values()) {
        all.add(Arguments.of(kind, misdeed));
      }
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource
  void onTheLoop(ActivityKind kind, Misdeed misdeed) {
    Function<ActivityContext, Future<Receipt>> run =
        context -> context.eventId().equals("bad") ? doing(misdeed) : Bench.done();
    BoundHandler handler =
        kind == ActivityKind.EFFECT
            ? new BoundHandler.Effect((EffectHandler) (context, transaction) -> run.apply(context))
            : new BoundHandler.Async(run::apply);
    bench.type("t", kind, 8, Bench.Times.DEFAULT, handler).start().deliver("t", "bad", "good-1");
    bench.advance(120_000); // three starts of twenty seconds, and their backoff
    assertThat(bench.row("bad").state).isEqualTo(expected(kind, misdeed));
    named(misdeed);
    goesOn();
  }

  static Stream<Arguments> onAThread() {
    return onTheLoop()
        .filter(
            each ->
                each.get()[0] != ActivityKind.EFFECT
                    && ON_A_THREAD.contains((Misdeed) each.get()[1]));
  }

  @ParameterizedTest
  @MethodSource
  void onAThread(ActivityKind kind, Misdeed misdeed) {
    bench
        .type(
            "t",
            kind,
            4,
            Bench.Times.DEFAULT,
            new BoundHandler.Blocking(
                context -> {
                  if (!context.eventId().equals("bad")) {
                    return Receipt.succeeded();
                  }
                  switch (misdeed) {
                    case THROWS -> throw new NoClassDefFoundError("odd");
                    case TELLS_NOTHING -> throw new Speechless();
                    case GOES_ROUND -> throw causeOfItself();
                    default -> {
                      return null;
                    }
                  }
                }))
        .start()
        .deliver("t", "bad", "good-1");
    bench.runThreads();
    for (int second = 0; second < 60; second++) {
      bench.advance(1_000);
      bench.runThreads(); // a probe too is on a thread
    }
    assertThat(bench.row("bad").state).isEqualTo(expected(kind, misdeed));
    named(misdeed);
    bench.deliver("t", "good-2");
    bench.runThreads();
    ended();
  }

  private static RuntimeException causeOfItself() {
    IllegalStateException cause = new IllegalStateException("its cause");
    RuntimeException round = new RuntimeException("a cause of itself", cause);
    cause.initCause(round);
    return round;
  }

  /** The worker's own code, that is; the figures stand for all of it. */
  @ParameterizedTest
  @EnumSource(ActivityKind.class)
  void aFaultOfOursAfterItsEndLeavesNothingRunning(ActivityKind kind) {
    Function<ActivityContext, Future<Receipt>> run =
        context -> {
          bench.events.faultOfRan =
              context.eventId().equals("bad") ? new IllegalStateException("a fault of ours") : null;
          return Bench.done();
        };
    BoundHandler handler =
        kind == ActivityKind.EFFECT
            ? new BoundHandler.Effect((context, transaction) -> run.apply(context))
            : new BoundHandler.Async(run::apply);
    bench.type("t", kind, 8, Bench.Times.DEFAULT, handler).start().deliver("t", "bad", "good-1");
    bench.advance(60_000);
    assertThat(bench.row("bad").state).as("what it did stands").isEqualTo(ActivityState.COMPLETED);
    goesOn();
  }

  private Future<Receipt> doing(Misdeed misdeed) {
    switch (misdeed) {
      case THROWS -> throw new NoClassDefFoundError("odd");
      case TELLS_NOTHING -> {
        return Future.failedFuture(new Speechless());
      }
      case GOES_ROUND -> {
        return Future.failedFuture(causeOfItself());
      }
      case NULL -> {
        return null;
      }
      case NULL_INSIDE -> {
        return Future.succeededFuture(null);
      }
      case NEVER -> {
        return Promise.<Receipt>promise().future();
      }
      case TWICE -> {
        return WorkerCasesTest.twice(Receipt.succeeded());
      }
      case BLOCKS -> bench.time.sleepThrough(BLOCKED);
    }
    return Bench.done();
  }

  /**
   * As spec/failure-classes.csv has it: what may have happened is not repeated, nor called failed.
   */
  private static ActivityState expected(ActivityKind kind, Misdeed misdeed) {
    return switch (misdeed) {
      case TWICE, BLOCKS -> ActivityState.COMPLETED;
      case NEVER ->
          switch (kind) {
            case IRREVERSIBLE -> ActivityState.MANUAL_REVIEW;
            case QUERYABLE -> ActivityState.RUNNING; // a call may still be in the air: no probe yet
            default -> ActivityState.DEAD; // after all its starts
          };
      default ->
          kind == ActivityKind.IRREVERSIBLE || kind == ActivityKind.QUERYABLE
              ? ActivityState.MANUAL_REVIEW
              : ActivityState.DEAD;
    };
  }

  private void named(Misdeed misdeed) {
    assertThat(List.copyOf(log.events()))
        .extracting(ILoggingEvent::getFormattedMessage)
        .as("a line that names it")
        .anyMatch(line -> line.contains("event=bad ") && line.contains(misdeed.named));
  }

  private void goesOn() {
    bench.deliver("t", "good-2");
    bench.advance(1_000);
    ended();
  }

  private void ended() {
    assertThat(bench.row("good-1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("good-2").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("good-1").attempts).as("charged nothing").isEqualTo(1);
    assertThat(bench.broker.unacked).isEmpty();
  }
}
