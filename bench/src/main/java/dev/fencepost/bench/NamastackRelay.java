package dev.fencepost.bench;

import dev.fencepost.bench.peer.NamastackOutbox;

/** namastack-outbox: its rows hold the payload as JSON and the name of a handler. */
final class NamastackRelay extends Relay {

  private static final String INSERT =
      "insert into outbox_record (id, status, record_key, record_type, payload, created_at,"
          + " failure_count, next_retry_at, partition_no, handler_id)"
          + " select gen_random_uuid()::text, 'NEW', k, '"
          + NamastackOutbox.Event.class.getName()
          + "', '{\"number\":' || n || ',\"body\":\"' || b || '\"}', now(), 0, now(),"
          + " abs(hashtext(k)) % 256, '"
          + NamastackOutbox.HANDLER
          + "' from ";

  private final String pause;

  /**
   * @param pause milliseconds between its looks
   */
  NamastackRelay(Servers servers, String queueType, String pause) {
    super(
        Peer.NAMASTACK.word(),
        "namastack-outbox 1.6.0 with JDBC: fixed polling every "
            + pause
            + " ms, 1000 keys together, 16 threads,"
            + " rows deleted when done; its handler sends with Spring AMQP's correlated confirms and"
            + " awaits each",
        servers,
        queueType);
    this.pause = pause;
  }

  @Override
  double share() {
    return 0.05;
  }

  @Override
  void prepare() {
    // The library makes its tables.
  }

  @Override
  JavaProcess launch() {
    return launchPeer(NamastackOutbox.class, pause);
  }

  /** It owns all its partitions. */
  @Override
  boolean ready() {
    return database.number(
                "select count(*) from pg_tables where tablename = 'outbox_partition'")
            > 0
        && database.number("select count(instance_id) from outbox_partition") == 256;
  }

  @Override
  void fill(int rows, int size) {
    database.execute(
        INSERT
            + ("(select 'order-' || i %% %d as k, i as n, repeat('x', %d) as b"
                    + " from generate_series(0, %d - 1) i) v")
                .formatted(KEYS, size - 4, rows));
  }

  @Override
  String insert() {
    return INSERT
        + "(select k, ('x' || encode(substring(p, 1, 4), 'hex'))::bit(32)::int as n,"
        + " convert_from(substring(p, 5), 'UTF8') as b"
        + " from (values (?::text, ?::bytea)) w(k, p)) v";
  }

  @Override
  void tidy() {
    database.execute("truncate outbox_record");
  }
}
