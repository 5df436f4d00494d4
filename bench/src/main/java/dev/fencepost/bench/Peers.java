package dev.fencepost.bench;

import dev.fencepost.bench.peer.BareConsumer;
import dev.fencepost.bench.peer.DbSchedulerWorker;
import dev.fencepost.bench.peer.DebeziumRelay;
import dev.fencepost.bench.peer.JobRunrWorker;
import dev.fencepost.bench.peer.SpringBatch;
import dev.fencepost.bench.peer.SpringInbox;
import dev.fencepost.bench.peer.SpringPoller;
import java.util.ArrayList;
import java.util.List;

/** Who is measured beside the product, and how each is set up. */
final class Peers {

  private final Options options;
  private final Servers servers;

  Peers(Options options, Servers servers) {
    this.options = options;
    this.servers = servers;
  }

  /**
   * @param latency they are measured one event at a time, not by a backlog
   */
  List<Relay> relays(String queueType, boolean latency) {
    List<Relay> relays = new ArrayList<>();
    // As often as ours looks by default; for throughput what leaves most to each look.
    String pause = latency ? "2" : "10";
    if (options.invites(Peer.DEBEZIUM)) {
      relays.add(
          new PeerRelay(
              Peer.DEBEZIUM.word(),
              "Debezium Engine 3.6.1.Final, outbox router, batch 2048, poll "
                  + pause
                  + " ms, queue 8192; each batch published on one channel, then its confirms awaited; rows are left to"
                  + " the application to delete",
              DebeziumRelay.class,
              pause,
              1,
              servers,
              queueType) {
            @Override
            boolean ready() {
              return database.number("select count(*) from pg_replication_slots where active") > 0;
            }
          });
    }
    if (options.invites(Peer.SPRING_POLLER)) {
      relays.add(
          new PeerRelay(
              Peer.SPRING_POLLER.word(),
              "Spring AMQP 4.0.0: 2 threads, 500 rows `for update skip locked`, sent on one channel"
                  + " with correlated confirms and returns, deleted by one statement; channel cache"
                  + " 2000; looks again at once after rows, else after "
                  + pause
                  + " ms",
              SpringPoller.class,
              pause,
              0.5,
              servers,
              queueType));
    }
    if (options.invites(Peer.GRUELBOX)) {
      relays.add(new GruelboxRelay(servers, queueType, latency));
    }
    if (options.invites(Peer.NAMASTACK)) {
      relays.add(new NamastackRelay(servers, queueType, pause));
    }
    return relays;
  }

  List<Worker> workers() {
    List<Worker> workers = new ArrayList<>();
    add(workers, Peer.BARE_CONSUMER, BARE, BareConsumer.class, 1);
    add(workers, Peer.SPRING_BATCH, BATCH, SpringBatch.class, 1);
    // Its prefetched messages must be few beside the round's.
    add(workers, Peer.SPRING_INBOX, INBOX, SpringInbox.class, 0.2);
    add(workers, Peer.DB_SCHEDULER, DB_SCHEDULER, DbSchedulerWorker.class, 0.1);
    add(workers, Peer.JOBRUNR, JOBRUNR, JobRunrWorker.class, 0.1);
    if (options.invites(Peer.GRAPHILE_WORKER)) {
      if (GraphileWorker.isPossible()) {
        workers.add(new GraphileWorker(GRAPHILE, servers));
      } else {
        System.out.println("  without graphile-worker: it needs node and npm");
      }
    }
    return workers;
  }

  private static final String BARE = "prefetch 4000, acknowledges 500 at once, no database";
  private static final String BATCH =
      "Spring AMQP 4.0.0 batch listener: 2 consumers, batches of 1000, prefetch 2000, one batched"
          + " insert of receipts (`reWriteBatchedInserts`); fails and acknowledges as a whole";
  private static final String INBOX =
      "Spring AMQP 4.0.0: 16 consumers, prefetch 100, a transaction with a receipt for each message";
  private static final String DB_SCHEDULER =
      "db-scheduler 16.7.0: messages become one-time tasks by `scheduleBatch`, 500 together, then"
          + " are acknowledged; 20 threads, lock-and-fetch, a receipt in each execution";
  private static final String JOBRUNR =
      "JobRunr 8.3.0: messages become jobs by `enqueue` of a stream, 500 together, then are"
          + " acknowledged; 20 workers, poll every 5 s, a receipt in each job";

  private static final String GRAPHILE =
      "Graphile Worker 0.17.3 on Node.js: messages become jobs by `addJobs`, 500 together, then are"
          + " acknowledged; 24 jobs at a time, a local queue of 500, completions batched, a receipt"
          + " in each job";

  private void add(
      List<Worker> workers, Peer peer, String settings, Class<?> main, double share) {
    if (options.invites(peer)) {
      workers.add(new PeerWorker(peer, settings, main, share, servers));
    }
  }
}
