package dev.fencepost.bench;

import dev.fencepost.bench.peer.DbSchedulerWorker;
import dev.fencepost.bench.peer.JobRunrWorker;
import java.util.ArrayList;
import java.util.List;

/** A worker of others that leaves receipts, run by a main class of ours. */
final class PeerWorker extends Worker {

  private final Class<?> main;
  private final double share;
  private final boolean leavesResults;

  PeerWorker(
      String name,
      String settings,
      Class<?> main,
      double share,
      boolean leavesResults,
      Servers servers) {
    super(name, settings, servers);
    this.main = main;
    this.share = share;
    this.leavesResults = leavesResults;
  }

  @Override
  double share() {
    return share;
  }

  @Override
  boolean leavesResults() {
    return leavesResults;
  }

  @Override
  boolean storesJobs() {
    return main == DbSchedulerWorker.class || main == JobRunrWorker.class;
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
