package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/**
 * With {@code ordering: key} never two events of a key run at once, and none runs before all that
 * came before it have ended, whatever happens between: failures, retries, time-outs, redeliveries,
 * answers that are lost or late, types that stand still or are not known.
 */
class KeyOrderProperties {
  private static final Bench.Times TIMES =
      new Bench.Times(Duration.ofSeconds(30), Duration.ofSeconds(60), Duration.ofSeconds(90), null);

  private static final int UNKNOWN_OF_KEY_2 = 11;
  private static final int EFFECT_OF_KEY_2 = 8;
  private static final int BEGIN_EFFECTS = 4;

  enum Kind {
    DELIVER,
    SUCCEED,
    FAIL_ONCE,
    FAIL_FOR_GOOD,
    DROP_CHANNEL,
    LOSE_ANSWER,
    DELAY_ANSWERS,
    RELEASE_ANSWERS,
    GIVE_UP_UNKNOWN,
    PASS_TIME
  }

  record Step(Kind kind, int number) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    return Arbitraries.frequency(
            Tuple.of(10, Kind.DELIVER),
            Tuple.of(6, Kind.SUCCEED),
            Tuple.of(3, Kind.FAIL_ONCE),
            Tuple.of(1, Kind.FAIL_FOR_GOOD),
            Tuple.of(1, Kind.DROP_CHANNEL),
            Tuple.of(1, Kind.LOSE_ANSWER),
            Tuple.of(1, Kind.DELAY_ANSWERS),
            Tuple.of(1, Kind.RELEASE_ANSWERS),
            Tuple.of(1, Kind.GIVE_UP_UNKNOWN),
            Tuple.of(3, Kind.PASS_TIME))
        .flatMap(kind -> Arbitraries.integers().between(0, 99).map(n -> new Step(kind, n)))
        .list()
        .ofMinSize(20)
        .ofMaxSize(120);
  }

  private record Open(Run run, Promise<Receipt> result) {
    /** What its hard limit has ended may go on; nobody waits for it. */
    boolean alive() {
      return run.state() == Run.State.OPEN;
    }
  }

  /** One history of a worker. */
  private static final class History {
    private static final String[] CALLS = {"claim", "settle", "claimDue", "defer", "beginEffects"};

    final Bench bench = new Bench().ordered().prefetch(8);
    final Map<String, List<String>> keys = new HashMap<>();
    final Map<String, Open> open = new LinkedHashMap<>();
    final Map<String, Integer> succeeded = new HashMap<>();
    final List<String> faults = new ArrayList<>(); // a handler's own failure is but an outcome
    int events;

    History() {
      bench.type("a", ActivityKind.IDEMPOTENT, 2, TIMES, new BoundHandler.Async(this::run));
      bench.type("b", ActivityKind.PURE, 2, TIMES, new BoundHandler.Async(this::run));
      bench.effect("c", this::run);
      bench.start();
    }

    private Future<Receipt> run(ActivityContext context) {
      String event = context.eventId();
      for (String other : keys.get(context.key())) {
        if (other.equals(event)) {
          break;
        }
        FakeActivityStore.Row row = bench.row(other);
        if (row == null || !row.ended()) {
          faults.add(event + " runs before " + other + " has ended");
        }
      }
      for (String running : keys.get(context.key())) {
        if (open.containsKey(running) && open.get(running).alive()) {
          faults.add(event + " runs beside " + running);
        }
      }
      Promise<Receipt> result = Promise.promise();
      open.put(event, new Open((Run) context, result));
      return result.future();
    }

    void take(Step step) {
      switch (step.kind()) {
        case DELIVER -> deliver(step.number());
        case SUCCEED -> end(step.number(), null);
        case FAIL_ONCE -> end(step.number(), new TransientFailure("not now"));
        case FAIL_FOR_GOOD -> end(step.number(), new PermanentFailure("never"));
        case DROP_CHANNEL -> bench.broker.dropChannel();
        case LOSE_ANSWER -> bench.store.loseNextAnswerOf(CALLS[step.number() % CALLS.length]);
        case DELAY_ANSWERS -> bench.store.delayAnswersOf(CALLS[step.number() % CALLS.length]);
        case RELEASE_ANSWERS -> bench.store.releaseAnswers();
        case GIVE_UP_UNKNOWN -> giveUpUnknown();
        case PASS_TIME -> bench.advance(step.number() * 100L);
      }
      bench.time.settle();
    }

    private void deliver(int number) {
      String event = "e" + events++;
      String key = "k" + number % 3;
      keys.computeIfAbsent(key, k -> new ArrayList<>()).add(event);
      String type = List.of("a", "b", "c", "unknown").get(number / 3 % 4);
      bench.broker.deliver(Bench.message(type, event, key));
    }

    /** As if their time had passed. */
    private void giveUpUnknown() {
      bench.store.resolveTypes(Bench.QUEUE, List.of("a", "b", "c"), Duration.ofNanos(-1), 100);
    }

    private void end(int number, Throwable failure) {
      if (open.isEmpty()) {
        return;
      }
      String event = List.copyOf(open.keySet()).get(number % open.size());
      Promise<Receipt> result = open.remove(event).result();
      if (failure == null) {
        succeeded.merge(event, 1, Integer::sum);
        result.complete(Receipt.succeeded());
      } else {
        result.fail(failure);
      }
    }

    /** Everything ends at last. */
    void finish() {
      bench.store.releaseAnswers();
      for (int i = 0; i < 2_000 && !over(); i++) {
        end(0, null);
        giveUpUnknown();
        bench.advance(1_000);
      }
      assertThat(faults).isEmpty();
      assertThat(bench.store.rows).hasSize(events);
      assertThat(bench.store.rows.values())
          .as("all have ended")
          .allMatch(row -> row.state == ActivityState.COMPLETED || row.state == ActivityState.DEAD);
      keys.forEach((key, came) -> assertThat(stored(key)).as("order of %s", key).isEqualTo(came));
      assertThat(bench.broker.unacked).isEmpty();
      assertThat(bench.broker.ready()).isZero();
    }

    private List<String> stored(String key) {
      return bench.store.rows.values().stream()
          .filter(row -> key.equals(row.key))
          .sorted(Comparator.comparingLong(row -> row.order))
          .map(row -> row.id.eventId())
          .toList();
    }

    private boolean over() {
      return bench.store.rows.size() == events
          && bench.store.rows.values().stream().allMatch(FakeActivityStore.Row::ended)
          && bench.broker.unacked.isEmpty();
    }
  }

  @Property(tries = 150)
  void eventsOfAKeyRunOneAtATimeAndInTheirOrder(@ForAll("steps") List<Step> steps) {
    History history = new History();
    steps.forEach(history::take);
    history.finish();
  }

  /**
   * What waits behind a job whose answer was lost goes on behind the start from the database that
   * stands for its event meanwhile.
   */
  @Example
  void whatWaitsBehindAJobThatWaitsItselfIsNotForgotten() {
    History history = new History();
    Stream.of(
            new Step(Kind.DELIVER, UNKNOWN_OF_KEY_2),
            new Step(Kind.LOSE_ANSWER, BEGIN_EFFECTS),
            new Step(Kind.DELIVER, EFFECT_OF_KEY_2),
            new Step(Kind.DROP_CHANNEL, 0))
        .forEach(history::take);
    history.finish();
  }
}
