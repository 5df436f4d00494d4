package dev.fencepost.bench;

import dev.fencepost.bench.peer.GruelboxOutbox;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** gruelbox transaction-outbox: its rows hold an invocation as JSON, which it runs later. */
final class GruelboxRelay extends Relay {

  private final boolean latency;

  /**
   * @param latency events are written by its own process through the library, which then hands each
   *     to a thread right after its commit; else rows are found by flushing
   */
  GruelboxRelay(Servers servers, String queueType, boolean latency) {
    super(
        Peer.GRUELBOX.word(),
        "transaction-outbox 4.2.268: "
            + (latency
                ? "scheduled by its own process (whose CPU time has that in it), each handed to one of"
                    + " 16 threads right after its commit, flush every second only for what was missed"
                : "flush in a loop, batches of 1000, 16 threads")
            + "; each thread on a channel of its own that waits for its confirm",
        servers,
        queueType);
    this.latency = latency;
  }

  @Override
  double share() {
    return 0.1;
  }

  @Override
  void prepare() {
    GruelboxOutbox.create(database.jdbcUrl());
  }

  @Override
  JavaProcess launch() {
    return launchPeer(GruelboxOutbox.class, latency ? GruelboxOutbox.IMMEDIATE : GruelboxOutbox.FLUSHING);
  }

  @Override
  long[] commit(int events, int rate, int size) throws Exception {
    if (!latency) {
      return super.commit(events, rate, size);
    }
    Path moments = Paths.run(name(), ".moments");
    Files.deleteIfExists(moments);
    process().tell(events + " " + rate + " " + size + " " + moments);
    await("events are written", Duration.ofMinutes(10), () -> Files.exists(moments));
    return Files.readAllLines(moments).stream().mapToLong(Long::parseLong).toArray();
  }

  /** Rows as the library writes them, written by one statement: its own way takes far longer. */
  @Override
  void fill(int rows, int size) {
    database.execute(
        ("insert into txno_outbox (id, invocation, nextattempttime, attempts, blocked, processed,"
                + " version) select gen_random_uuid()::text, %s, now(), 0, false, false, 0"
                + " from generate_series(0, %d - 1) i")
            .formatted(GruelboxOutbox.invocation("i::text", size), rows));
  }

  @Override
  String insert() {
    return ("insert into txno_outbox (id, invocation, nextattempttime, attempts, blocked, processed,"
            + " version) select gen_random_uuid()::text || left(?, 0), %s, now(), 0, false, false, 0"
            + " from (values (?::bytea)) v(b)")
        .formatted(
            GruelboxOutbox.invocation(
                "('x' || encode(substring(b, 1, 4), 'hex'))::bit(32)::int", 256));
  }

  @Override
  void tidy() {
    database.execute("truncate txno_outbox");
  }
}
