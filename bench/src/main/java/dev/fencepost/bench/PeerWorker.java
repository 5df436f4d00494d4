package dev.fencepost.bench;

import dev.fencepost.bench.peer.BareConsumer;
import dev.fencepost.bench.peer.DbSchedulerWorker;
import dev.fencepost.bench.peer.JobRunrWorker;

/** A worker of others that leaves receipts, run by a main class of ours. */
final class PeerWorker extends Worker {

  static final String RECEIPTS =
      "create table receipt (event_id text primary key,"
          + " recorded_at timestamptz not null default now())";

  private static final String RECORDED = Servers.BENCH + "select count(*) from receipt";

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
    return launchPeer(main);
  }

  @Override
  long results() {
    return recorded(database);
  }

  @Override
  void forgetResults() {
    forget(database);
  }

  static long recorded(Servers.Database database) {
    return database.watched(RECORDED);
  }

  static void forget(Servers.Database database) {
    database.execute("truncate " + Servers.BENCH + "receipt");
  }
}
