package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.List;

/** A worker of others that leaves receipts, run by a main class of ours. */
final class PeerWorker extends Worker {

  private final Class<?> main;
  private final double share;
  private final boolean leavesReceipts;

  PeerWorker(
      String name,
      String settings,
      Class<?> main,
      double share,
      boolean leavesReceipts,
      Servers servers) {
    super(name, settings, servers);
    this.main = main;
    this.share = share;
    this.leavesReceipts = leavesReceipts;
  }

  @Override
  double share() {
    return share;
  }

  boolean leavesReceipts() {
    return leavesReceipts;
  }

  @Override
  void prepare() {
    database.execute(
        "create table receipt (event_id text primary key,"
            + " recorded_at timestamptz not null default now())");
  }

  @Override
  JavaProcess launch() {
    return JavaProcess.start(
        name(),
        Paths.peers(),
        new ArrayList<>(
            List.of(main.getName(), database.jdbcUrl(), servers.brokerUri(), queue.name())));
  }

  @Override
  long results() {
    return database.number("select count(*) from receipt");
  }
}
