package dev.fencepost.relay;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.ParkedRows.Answer;
import dev.fencepost.relay.ParkedRows.Destination;
import dev.fencepost.relay.ParkedRows.Due;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tries the parked rows of a lane again, in the order of each key, by backoff, and carries out what
 * operators ask. To an exchange that takes nothing one row goes at a time.
 */
final class ParkedLoop {
  private static final Duration NEVER = Duration.ofDays(1);
  private static final int ROWS = 200;

  /** Routing keys of a silent exchange that are tried at once. */
  private static final int PROBES = 5;

  private final ParkedRows store;
  private final Desk desk;
  private final ParkedRows.LaneOwner owner;
  private final OutboxStore.Limit limit;
  private final Repeating ticks;

  /** Rows that an operator changed since the round that is under way read them. */
  private final Set<Long> changed = new HashSet<>();

  /** Rows of the round that is under way of which the broker has not told yet. */
  private final Map<Long, OutboxRow> trying = new HashMap<>();

  private final LaneLoop.Lost lost;
  private Future<?> carrying = Future.succeededFuture();
  private boolean stopped;
  private long rows;

  /** What it works with, all of one lane. */
  record Desk(
      Quarantine quarantine,
      Quarantine trials,
      Parker parker,
      Destinations destinations,
      ParkedTotal total,
      ParkedLog log,
      RelayEvents events,
      InTurn changes) {}

  ParkedLoop(Vertx vertx, RelaySettings settings, ParkedRows store, LaneLoop.Lane lane, Desk desk) {
    this.store = store;
    this.desk = desk;
    this.lost = lane.lost();
    this.owner = new ParkedRows.LaneOwner(settings.instance(), lane.number(), lane.taken().fence());
    this.limit = new OutboxStore.Limit(ROWS, Math.max(1, settings.paging().windowBytes() / 4));
    this.rows = lane.taken().parked().size();
    this.ticks = new Repeating(vertx, "retrying parked rows of lane " + lane.number(), this::tick);
  }

  void start() {
    ticks.start();
    requested();
  }

  Future<Void> stop() {
    stopped = true;
    return Future.join(ticks.stop(), carrying).mapEmpty();
  }

  /** Rows have been parked. */
  void parked(int more) {
    rows += more;
    ticks.soon();
  }

  /**
   * Operators ask something. It is carried out at once: a round may wait for the broker for long.
   */
  void requested() {
    if (carrying.isComplete()) {
      // Asked for again until it is done.
      carrying = change(() -> removing(store.carryOut(owner))).otherwiseEmpty();
      carrying.onComplete(any -> ticks.soon());
    }
  }

  /** Rows parked in the lane. */
  long rows() {
    return rows;
  }

  /** One round; says when the next row is due. */
  Future<Duration> tick() {
    return desk.changes()
        .run(
            () -> {
              changed.clear();
              trying.clear();
              return store.due(owner.lane(), limit);
            })
        .compose(this::attempt);
  }

  private Future<Duration> change(Supplier<Future<ParkedRows.State>> change) {
    return desk.changes().run(() -> change.get().map(this::absorb));
  }

  /**
   * Where no answer tells whether rows were taken away nobody knows how many are left: the lane is
   * void, as after a checkpoint of which nothing is known.
   */
  private <T> Future<T> removing(Future<T> change) {
    return change.onFailure(
        failure -> {
          boolean unknown =
              FencepostException.is(failure, FailureKind.TIMEOUT)
                  || FencepostException.is(failure, FailureKind.DATABASE_UNREACHABLE);
          if (unknown && !stopped) {
            lost.because(null);
          }
        });
  }

  private Future<ParkedRows.State> settle(List<Answer> answers) {
    Future<ParkedRows.State> settled = store.settle(owner, answers);
    boolean published = answers.stream().anyMatch(answer -> answer.refusal() == null);
    return published ? removing(settled) : settled;
  }

  private Duration absorb(ParkedRows.State state) {
    state.carried().forEach(this::carried);
    desk.parker().free(state.free());
    rows -= state.removed();
    desk.total().add(-state.removed());
    Duration next = state.next();
    return next == null ? NEVER : next;
  }

  /** What was skipped or redirected is not to be sent as it was read. */
  private void carried(ParkedRows.Carried request) {
    desk.log().carriedOut(owner.lane(), request);
    if (!request.action().equals("retry")) {
      changed.add(request.seq());
      desk.quarantine().withdraw(request.seq());
      desk.trials().withdraw(request.seq());
    }
  }

  private Future<Duration> attempt(List<Due> due) {
    ParkedRound round = new ParkedRound();
    List<Future<Void>> chains = new ArrayList<>();
    Map<Destination, List<Due>> refused = new LinkedHashMap<>();
    Map<OutboxRow.Route, List<List<Due>>> unconfirmed = new LinkedHashMap<>();
    for (List<Due> chain : chains(due)) {
      Due first = chain.get(0);
      Destination refusing = desk.destinations().refusing(first.row().route());
      if (refusing != null) {
        refused.computeIfAbsent(refusing, to -> new ArrayList<>()).add(first);
      } else if (first.reason() == ParkedReason.REJECTED && first.attempts() == 0) {
        unconfirmed.computeIfAbsent(first.row().route(), to -> new ArrayList<>()).add(chain);
      } else {
        chains.add(publish(chain, 0, round));
      }
    }
    unconfirmed.values().forEach(same -> chains.add(oneAhead(same, round)));
    round.closed.addAll(refused.keySet());
    for (List<Due> firsts : refused.values()) {
      probes(firsts).forEach(probe -> chains.add(publish(List.of(probe), 0, round)));
    }
    // What was answered is settled even where the lane ended before the rest was.
    return Future.join(chains)
        .transform(ended -> change(() -> settle(unchanged(round.answers))))
        .onSuccess(v -> tell(due, round.answers))
        .compose(
            next -> {
              round.silentStill.forEach(desk.destinations()::silentStill);
              return postpone(round, next);
            });
  }

  /** Of rows that nobody confirmed one goes ahead: where it is silent still, the others wait. */
  private Future<Void> oneAhead(List<List<Due>> chains, ParkedRound round) {
    OutboxRow.Route route = chains.get(0).get(0).row().route();
    return publish(chains.get(0), 0, round)
        .compose(
            ended -> {
              if (desk.destinations().refusing(route) != null) {
                return Future.succeededFuture();
              }
              List<Future<Void>> others = new ArrayList<>();
              chains.stream().skip(1).forEach(chain -> others.add(publish(chain, 0, round)));
              return Future.join(others).mapEmpty();
            });
  }

  /**
   * The rows to try where nothing is taken: one of the routing key whose turn it is, for rights may
   * depend on it. Of a silent exchange some at once, since that costs no channel.
   *
   * @param firsts in their order
   */
  private Collection<Due> probes(List<Due> firsts) {
    boolean silent = desk.destinations().silent(firsts.get(0).row().route()) != null;
    Map<String, Due> probes = new LinkedHashMap<>();
    for (Due first : firsts) {
      if (probes.size() < (silent ? PROBES : 1)) {
        probes.putIfAbsent(first.row().route().routingKey(), first);
      }
    }
    return probes.values();
  }

  /** An operator's word on a row outlasts the broker's. */
  private List<Answer> unchanged(List<Answer> answers) {
    return answers.stream().filter(answer -> !changed.contains(answer.row().seq())).toList();
  }

  private void tell(List<Due> due, List<Answer> answers) {
    Map<Long, Integer> attempts = new HashMap<>();
    due.forEach(each -> attempts.put(each.row().seq(), each.attempts()));
    for (Answer answer : answers) {
      if (answer.refusal() == null) {
        desk.log().published(answer.row(), attempts.getOrDefault(answer.row().seq(), 0));
      }
    }
  }

  private static Collection<List<Due>> chains(List<Due> due) {
    Map<String, List<Due>> chains = new LinkedHashMap<>();
    for (Due each : due) {
      String key = each.row().key();
      String chain = key == null ? "#" + each.row().seq() : "=" + key;
      chains.computeIfAbsent(chain, k -> new ArrayList<>()).add(each);
    }
    return chains.values();
  }

  /** One after the other, until one is refused or not answered. */
  private Future<Void> publish(List<Due> chain, int at, ParkedRound round) {
    if (at == chain.size() || changed.contains(chain.get(at).row().seq())) {
      return Future.succeededFuture();
    }
    Due due = chain.get(at);
    trying.put(due.row().seq(), due.row());
    round.tried.add(due.row());
    return verdict(due)
        .onComplete(any -> trying.remove(due.row().seq()))
        .compose(
            verdict -> {
              round.answers.add(answer(due, verdict, round));
              return verdict.refusal() == null
                  ? publish(chain, at + 1, round)
                  : Future.succeededFuture();
            })
        .recover(failure -> unanswered(due.row().route(), failure, round));
  }

  private Future<Publisher.Verdict> verdict(Due due) {
    OutboxRow.Route route = due.row().route();
    if (desk.destinations().silent(route) != null) {
      return desk.trials().attempt(due.row(), false);
    }
    boolean alone = desk.destinations().refusal(route) != null || mayClose(due.reason());
    return desk.quarantine().attempt(due.row(), alone);
  }

  /**
   * It costs the row no attempt; what goes there waits, longer each time. Of a whole exchange this
   * routing key stays known when another one gets through.
   */
  private Future<Void> unanswered(OutboxRow.Route route, Throwable failure, ParkedRound round) {
    if (!Silence.unanswered(failure)) {
      return Future.failedFuture(failure);
    }
    Destination known = desk.destinations().silent(route);
    Destination one = Destination.single(route);
    desk.destinations().silent(one);
    round.closed.add(known != null ? known : one);
    if (known != null && !known.equals(one)) {
      round.silentStill.add(known);
    }
    return Future.succeededFuture();
  }

  private static boolean mayClose(ParkedReason reason) {
    return Suspects.closes(reason);
  }

  private Answer answer(Due due, Publisher.Verdict verdict, ParkedRound round) {
    OutboxRow.Route route = due.row().route();
    ParkedReason refusal = verdict.refusal();
    if (refusal == null) {
      desk.events().published(owner.lane(), 1);
    } else {
      desk.events().refused(refusal);
    }
    if (refusal != null && Destinations.about(refusal)) {
      desk.destinations().refuse(route, refusal);
      spare(refusal, route, round);
    } else if (tookPart(refusal)) {
      desk.destinations().accept(route);
    }
    Duration retryIn = desk.destinations().backoff(route, due.attempts() + 1);
    return new Answer(due.row(), refusal, verdict.detail(), retryIn);
  }

  /** Each of the others would close a channel to be told the same: they are put off together. */
  private void spare(ParkedReason refusal, OutboxRow.Route route, ParkedRound round) {
    Destination refusing = desk.destinations().refusing(route);
    if (refusing != null) {
      round.closed.add(refusing);
    }
    for (OutboxRow other : List.copyOf(trying.values())) {
      if (Destinations.alike(refusal, route, other.route())) {
        desk.quarantine().withdraw(other.seq());
        desk.trials().withdraw(other.seq());
      }
    }
  }

  /** Whether the exchange itself had the row; others are refused before it is looked at. */
  private static boolean tookPart(@Nullable ParkedReason refusal) {
    return refusal == null
        || refusal == ParkedReason.UNROUTABLE
        || refusal == ParkedReason.REJECTED;
  }

  /** What was not tried because its destination still takes nothing waits as long as the probe. */
  private Future<Duration> postpone(ParkedRound round, Duration next) {
    for (Destination each : round.closed) {
      Duration by = desk.destinations().pause(each);
      if (by != null) {
        round.closed.remove(each);
        List<OutboxRow> tried =
            round.tried(each).stream().filter(row -> !changed.contains(row.seq())).toList();
        return change(() -> store.postpone(owner, each, by, tried))
            .compose(then -> postpone(round, then));
      }
    }
    return Future.succeededFuture(next);
  }
}
