package dev.fencepost.bench;

/** A relay of others over a plain outbox table, run by a main class of ours. */
class PeerRelay extends Relay {

  private static final String TABLE =
      "create table outbox (id bigint generated always as identity primary key,"
          + " event_id uuid not null default gen_random_uuid(), routing_key text not null,"
          + " type text not null, key text, payload bytea not null,"
          + " created_at timestamptz not null default clock_timestamp())";

  private final Class<?> main;
  private final String pause;
  private final double share;

  /**
   * @param pause milliseconds it waits when it has found nothing
   */
  PeerRelay(
      String name,
      String settings,
      Class<?> main,
      String pause,
      double share,
      Servers servers,
      String type) {
    super(name, settings, servers, type);
    this.main = main;
    this.pause = pause;
    this.share = share;
  }

  @Override
  double share() {
    return share;
  }

  @Override
  void prepare() {
    database.execute(TABLE);
  }

  @Override
  JavaProcess launch() {
    return launchPeer(main, pause);
  }

  @Override
  void fill(int rows, int size) {
    database.execute(
        ("insert " + Servers.BENCH + "into outbox (routing_key, type, key, payload)"
                + " select '%s', 'order.placed', 'order-' || i %% %d,"
                + " int4send(i) || convert_to(repeat('x', %d), 'UTF8')"
                + " from generate_series(0, %d - 1) i")
            .formatted(queue.name(), KEYS, size - 4, rows));
  }

  @Override
  String insert() {
    return "insert into outbox (routing_key, type, key, payload) values ('"
        + queue.name()
        + "', 'order.placed', ?, ?)";
  }

  @Override
  void tidy() {
    database.execute("truncate outbox");
  }
}
