package dev.fencepost.bench;

import dev.fencepost.bench.peer.GruelboxOutbox;
import java.util.List;

/** gruelbox transaction-outbox: its rows hold an invocation as JSON, which it runs later. */
final class GruelboxRelay extends Relay {

  GruelboxRelay(Servers servers, String queueType) {
    super(
        Peer.GRUELBOX.word(),
        "transaction-outbox 4.2.268: flush in a loop, batches of 1000, 16 threads, each on a channel"
            + " of its own that waits for its confirm",
        servers,
        queueType);
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
    return JavaProcess.start(
        name(),
        Paths.peers(),
        List.of(
            GruelboxOutbox.class.getName(),
            database.jdbcUrl(),
            servers.brokerUri(),
            queue.name()));
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
