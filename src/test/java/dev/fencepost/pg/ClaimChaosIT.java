package dev.fencepost.pg;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import dev.fencepost.worker.Settlement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Several workers on one database deliver, settle, renew, take over and die as it comes; in the end
 * every event has ended once, by a settlement that was sent for it, and nothing is left behind.
 */
class ClaimChaosIT {
  private static final int OWNERS = 3;
  private static final int BLOCK = 40;
  private static final int STEPS = Integer.getInteger("fencepost.chaos.steps", 120);
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Claim.Work PLAIN =
      new Claim.Work("plain", ActivityKind.IDEMPOTENT, 1_000, 1_000, TTL);
  private static final Claim.Work OTHER =
      new Claim.Work("other", ActivityKind.PURE, 1_000, 1_000, TTL.multipliedBy(2));
  private static final Claim.Work ONCE =
      new Claim.Work("once", ActivityKind.IRREVERSIBLE, 1_000, 1_000, TTL);
  private static final Map<String, ActivityStore.Slots> SLOTS =
      Map.of(
          "plain", new ActivityStore.Slots(PLAIN, 50),
          "other", new ActivityStore.Slots(OTHER, 50),
          "once", new ActivityStore.Slots(ONCE, 50));

  private final long seed = Long.getLong("fencepost.chaos.seed", System.nanoTime());
  private final AtomicInteger events = new AtomicInteger();
  private final Set<String> sent = ConcurrentHashMap.newKeySet();
  private final Map<String, String> applied = new ConcurrentHashMap<>();
  private final Set<String> twice = ConcurrentHashMap.newKeySet();
  private final Set<String> started = ConcurrentHashMap.newKeySet();

  @Test
  void everyEventEndsOnceByItsOwnSettlement() throws Exception {
    try (WorkerSchema schema = WorkerSchema.open()) {
      ExecutorService threads = Executors.newFixedThreadPool(OWNERS);
      try {
        List<Future<Void>> running = new ArrayList<>();
        for (int i = 0; i < OWNERS; i++) {
          Random random = new Random(seed + i);
          String owner = "owner-" + i;
          running.add(threads.submit(worker(schema, owner, random)));
        }
        for (Future<Void> each : running) {
          each.get();
        }
      } finally {
        threads.shutdownNow();
      }
      finish(schema);
      assertEnded(schema);
    }
  }

  private Callable<Void> worker(WorkerSchema shared, String owner, Random random) {
    return () -> {
      try (WorkerSchema own = shared.again("")) {
        One one = new One(own, owner, random);
        for (int step = 0; step < STEPS; step++) {
          one.step();
          if (step % 3 == 0) {
            assertSent(own);
          }
        }
      }
      return null;
    };
  }

  /** One worker, on a thread of its own. */
  private final class One {
    private final WorkerSchema schema;
    private final ActivityStore store;
    private final String owner;
    private final Random random;
    private final List<Claim.Ticket> held = new ArrayList<>();

    One(WorkerSchema schema, String owner, Random random) {
      this.schema = schema;
      this.store = schema.store();
      this.owner = owner;
      this.random = random;
    }

    void step() {
      switch (random.nextInt(12)) {
        case 0, 1, 2, 3 -> deliver();
        case 4, 5, 6, 7 -> settleSome();
        case 8 -> renew();
        case 9 -> beside();
        case 10 -> takeOver(30);
        default -> {
          due();
          if (random.nextInt(10) == 0) {
            held.clear(); // as a process that dies
          }
        }
      }
    }

    private void deliver() {
      List<Claim.Request> group = new ArrayList<>();
      int n = 1 + random.nextInt(BLOCK);
      boolean fresh = random.nextBoolean();
      int from = fresh ? events.getAndAdd(n) : random.nextInt(events.get() + 1);
      for (int i = 0; i < n; i++) {
        group.add(request(from + i, !fresh)); // what is new is taken for new, as by a worker
      }
      try {
        for (Claim.Answer answer : result(store.claim(owner, group))) {
          if (answer instanceof Claim.Started s) {
            took(s.ticket());
          }
        }
      } catch (FencepostException e) {
        assertConflict(e);
      }
    }

    private void took(Claim.Ticket ticket) {
      assertThat(started.add(start(ticket))).as("started once: " + start(ticket)).isTrue();
      held.add(ticket);
    }

    void due() {
      String consumer = "c" + random.nextInt(2);
      result(store.claimDue(owner, consumer, SLOTS)).forEach(due -> took(due.ticket()));
      Map<String, Claim.Work> works = new HashMap<>();
      SLOTS.forEach((type, slots) -> works.put(type, slots.work()));
      Claim.Due suspect = result(store.claimSuspect(owner, consumer, works));
      if (suspect != null) {
        took(suspect.ticket());
      }
    }

    private void settleSome() {
      Collections.shuffle(held, random);
      int n = random.nextBoolean() ? held.size() : random.nextInt(held.size() + 1);
      List<Settlement> group = new ArrayList<>();
      for (Claim.Ticket ticket : held.subList(0, n)) {
        group.add(new Settlement(ticket, how(), message()));
      }
      held.subList(0, n).clear();
      settle(group);
    }

    private Settlement.How how() {
      return switch (random.nextInt(60)) {
        case 0 -> new Settlement.Completed(Receipt.succeeded("body"));
        case 1 -> new Settlement.Completed(Receipt.failedPermanently("no"));
        case 2 ->
            new Settlement.RunAgain(
                AttemptOutcome.TRANSIENT_FAILURE,
                Duration.ZERO,
                true,
                new ErrorInfo("Boom", "it broke", null));
        case 3 -> new Settlement.Interrupted();
        default -> new Settlement.Completed(Receipt.succeeded());
      };
    }

    /** In halves where somebody has locked a row, as a worker does. */
    void settle(List<Settlement> group) {
      if (group.isEmpty()) {
        return;
      }
      for (Settlement each : group) {
        if (each.how() instanceof Settlement.Completed) {
          sent.add(start(each.ticket()));
        }
      }
      try {
        List<Boolean> ours = result(store.settle(owner, group));
        for (int i = 0; i < group.size(); i++) {
          if (ours.get(i) && group.get(i).how() instanceof Settlement.Completed) {
            applied(group.get(i).ticket());
          }
        }
      } catch (FencepostException e) {
        assertConflict(e);
        int half = group.size() / 2;
        if (half > 0) {
          settle(group.subList(0, half));
        }
        settle(group.subList(half, group.size()));
      }
    }

    private void applied(Claim.Ticket ticket) {
      String before = applied.put(event(ticket.id()), start(ticket));
      if (before != null) {
        twice.add(before + " and " + start(ticket));
      }
    }

    private void renew() {
      List<ActivityStore.Renewal> renewals =
          held.stream()
              .map(t -> new ActivityStore.Renewal(t.id(), t.fence(), 1L, "phase"))
              .toList();
      result(store.renew(owner, TTL, renewals));
    }

    private void beside() {
      if (held.isEmpty()) {
        return;
      }
      Claim.Ticket ticket = held.get(random.nextInt(held.size()));
      try {
        if (random.nextBoolean()) {
          result(store.keepBody(ticket.id(), message()));
        } else {
          sent.add(start(ticket)); // a receipt ends it, whoever settles
          result(store.recordReceipt(owner, ticket, Receipt.succeeded("early")));
        }
      } catch (FencepostException e) {
        assertConflict(e);
      }
    }

    void takeOver(int share) {
      PostgresServer.execute(
          schema.uri(),
          "update fencepost.activity set lease_until = now() where ctid = any(array(select ctid from"
              + " fencepost.activity where state = 'running' and random() * 100 < "
              + share
              + " for update skip locked))",
          "update fencepost.claim_batch set until = now() where ctid = any(array(select ctid from"
              + " fencepost.claim_batch for update skip locked))");
      for (int c = 0; c < 2; c++) {
        try {
          for (Evidence expired : result(store.expired("c" + c, null, 100))) {
            RecoveryDecision decision =
                expired.receipt() == null
                    ? RecoveryDecision.RETRY_SAME_ACTIVITY
                    : RecoveryDecision.RECORD_COMPLETION;
            result(store.recover(owner, expired, decision, message()));
          }
        } catch (FencepostException e) {
          assertConflict(e);
        }
      }
    }
  }

  private static void assertConflict(FencepostException e) {
    assertThat(FencepostException.is(e, FailureKind.DATABASE_CONFLICT)).as(e.toString()).isTrue();
  }

  private static Claim.Request request(int event, boolean redelivered) {
    int block = event / BLOCK;
    boolean plain = block % 4 != 3;
    Claim.Work work = !plain && event % 5 == 0 ? ONCE : event % 3 == 0 ? OTHER : PLAIN;
    String key = !plain && event % 7 == 0 ? "key-" + event % 5 : null;
    ActivityId id = new ActivityId("c" + block % 2, "event-" + event);
    return new Claim.Request(id, work, key, redelivered, message());
  }

  private static Delivery.Envelope message() {
    return new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {1}, null);
  }

  private static String event(ActivityId id) {
    return id.consumer() + "/" + id.eventId();
  }

  private static String start(Claim.Ticket ticket) {
    return event(ticket.id()) + "#" + ticket.fence();
  }

  /** All that is left is delivered, taken over and settled. */
  private void finish(WorkerSchema schema) {
    One last = new One(schema, "last", new Random(seed));
    List<Claim.Request> all =
        IntStream.range(0, events.get()).mapToObj(event -> request(event, true)).toList();
    for (Claim.Answer answer : result(schema.store().claim("last", all))) {
      if (answer instanceof Claim.Started s) {
        last.took(s.ticket());
      }
    }
    for (int round = 0; round < 1_000 && number(schema, UNENDED) > 0; round++) {
      last.takeOver(101);
      last.due();
      last.settle(
          last.held.stream()
              .map(t -> new Settlement(t, new Settlement.Completed(Receipt.succeeded()), null))
              .toList());
      last.held.clear();
    }
    last.takeOver(101);
  }

  private static final String UNENDED =
      "select count(*) from fencepost.activity where state not in ('completed', 'dead')";

  private void assertEnded(WorkerSchema schema) throws SQLException {
    String as = "seed " + seed;
    assertThat(number(schema, UNENDED)).as(as).isZero();
    assertThat(twice).as(as).isEmpty();
    assertThat(number(schema, "select count(*) from fencepost.claim_batch")).as(as).isZero();
    assertThat(
            number(
                schema,
                "select count(*) from fencepost.activity where waits is not null"
                    + " or live_key is not null or body is not null or receipt_outcome is null"))
        .as(as)
        .isZero();
    assertSent(schema);
    List<String> attempts = new ArrayList<>();
    try (Connection connection = PostgresServer.connect(schema.uri())) {
      ResultSet all =
          connection
              .createStatement()
              .executeQuery(
                  "select consumer || '/' || event_id || '#' || fence from fencepost.attempts");
      while (all.next()) {
        attempts.add(all.getString(1));
      }
    }
    assertThat(attempts).as(as).containsAll(started).doesNotHaveDuplicates();
  }

  /** At any time: what has ended was said to have. */
  private void assertSent(WorkerSchema schema) throws SQLException {
    List<String> unsent = new ArrayList<>();
    try (Connection connection = PostgresServer.connect(schema.uri());
        ResultSet ended =
            connection
                .createStatement()
                .executeQuery(
                    "select consumer || '/' || event_id || '#' || receipt_fence from"
                        + " fencepost.activity where state in ('completed', 'dead')")) {
      while (ended.next()) {
        if (!sent.contains(ended.getString(1))) {
          unsent.add(ended.getString(1));
        }
      }
    }
    assertThat(unsent).as("seed " + seed).isEmpty();
  }

  private static long number(WorkerSchema schema, String sql) {
    try (Connection connection = PostgresServer.connect(schema.uri());
        ResultSet rows = connection.createStatement().executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
