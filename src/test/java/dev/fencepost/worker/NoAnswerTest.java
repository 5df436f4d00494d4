package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.RunEvent;
import dev.fencepost.model.RunFailure;
import io.vertx.core.Promise;
import java.time.Duration;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A run that had no answer by its hard limit, whoever's clock strikes first. */
class NoAnswerTest {
  private static final Bench.Times SHORT =
      new Bench.Times(Duration.ofSeconds(30), Duration.ofSeconds(2), Duration.ofSeconds(4), null);

  private final Bench bench = new Bench();
  @RegisterExtension private final WorkerLines log = new WorkerLines();

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EFFECT")
  void theHandlersOwnClockIsAsGoodAsTheWorkers(ActivityKind kind) {
    Promise<Receipt> ofHandler = Promise.promise();
    BoundHandler handler =
        new BoundHandler.Async(
            c ->
                c.eventId().equals("own")
                    ? ofHandler.future()
                    : Promise.<Receipt>promise().future());
    bench.type("t", kind, 4, SHORT, handler).start().deliver("t", "own", "watched");
    bench.advance(3_999);
    ofHandler.fail(new RunFailure(RunEvent.NO_ANSWER_BY_HARD_LIMIT, "no answer", null, null));
    bench.advance(101);
    assertThat(bench.store.attempts)
        .extracting(a -> a.id().eventId(), FakeActivityStore.Attempt::outcome)
        .containsExactly(
            tuple("own", AttemptOutcome.TIMED_OUT), tuple("watched", AttemptOutcome.TIMED_OUT));
    assertThat(log.events().stream().map(ILoggingEvent::getFormattedMessage))
        .filteredOn(line -> line.startsWith("hard-limit "))
        .containsExactly(line("own"), line("watched"));
    assertThat(bench.events.leaked).as("only what has not come back").isEqualTo(1);
  }

  private static String line(String id) {
    return "hard-limit event=" + id + " type=t queue=q limit=4s fence=1 outcome=unknown";
  }
}
