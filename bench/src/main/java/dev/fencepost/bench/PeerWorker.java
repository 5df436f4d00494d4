package dev.fencepost.bench;

import dev.fencepost.bench.peer.BareConsumer;
import dev.fencepost.bench.peer.DbSchedulerWorker;
import dev.fencepost.bench.peer.JobRunrWorker;
import java.util.ArrayList;
import java.util.List;

/** A worker of others that leaves receipts, run by a main class of ours. */
final class PeerWorker extends Worker {

  static final String RECEIPTS =
      "create table receipt (event_id text primary key,"
          + " recorded_at timestamptz not null default now())";

  private final Class<?> main;
  private final double share;

  PeerWorker(Peer peer, String settings, Class<?> main, double share, Servers servers) {
    super(peer.word(), settings, servers);
    this.main = main;
    this.share = share;
  }

  @Override
  double share() {
    return share;
  }

  @Override
  boolean leavesResults() {
    return main != BareConsumer.class;
  }

  @Override
  boolean storesJobs() {
    return main == DbSchedulerWorker.class || main == JobRunrWorker.class;
  }

  @Override
  void prepare() {
    database.execute(RECEIPTS);
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
