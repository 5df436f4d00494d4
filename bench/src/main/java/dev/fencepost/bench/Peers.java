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

  List<Relay> relays(String queueType) {
    List<Relay> relays = new ArrayList<>();
    if (options.invites("debezium")) {
      relays.add(
          new PeerRelay(
              "debezium",
              "Debezium Engine 3.6.1.Final, outbox router, batch 2048, poll 10 ms, queue 8192; each"
                  + " batch published on one channel, then its confirms awaited; rows are left to"
                  + " the application to delete",
              DebeziumRelay.class,
              1,
              servers,
              queueType) {
            @Override
            boolean ready() {
              return database.number("select count(*) from pg_replication_slots where active") > 0;
            }
          });
    }
    if (options.invites("spring")) {
      relays.add(
          new PeerRelay(
              "spring-poller",
              "Spring AMQP 4.0.0: 2 threads, 500 rows `for update skip locked`, sent on one channel"
                  + " with correlated confirms and returns, deleted by one statement; channel cache"
                  + " 2000",
              SpringPoller.class,
              0.5,
              servers,
              queueType));
    }
    if (options.invites("gruelbox")) {
      relays.add(new GruelboxRelay(servers, queueType));
    }
    return relays;
  }

  List<Worker> workers() {
    List<Worker> workers = new ArrayList<>();
    if (options.invites("bare")) {
      workers.add(
          peer("bare consumer", "prefetch 1000, acknowledges each, no database", 1, false));
    }
    if (options.invites("spring")) {
      workers.add(peer("spring-batch", BATCH, 1, true));
      // Its prefetched messages must be few beside the round's.
      workers.add(peer("spring-inbox", INBOX, 0.2, true));
    }
    if (options.invites("db-scheduler")) {
      workers.add(peer("db-scheduler", DB_SCHEDULER, 0.1, true));
    }
    if (options.invites("jobrunr")) {
      workers.add(peer("jobrunr", JOBRUNR, 0.05, true));
    }
    return workers;
  }

  private static final String BATCH =
      "Spring AMQP 4.0.0 batch listener: 2 consumers, batches of 500, prefetch 1000, one batched"
          + " insert of receipts (`reWriteBatchedInserts`); fails and acknowledges as a whole";
  private static final String INBOX =
      "Spring AMQP 4.0.0: 16 consumers, prefetch 100, a transaction with a receipt for each message";
  private static final String DB_SCHEDULER =
      "db-scheduler 16.7.0: messages become one-time tasks by `scheduleBatch`, 500 together, then"
          + " are acknowledged; 20 threads, lock-and-fetch, a receipt in each execution";
  private static final String JOBRUNR =
      "JobRunr 8.3.0: messages become jobs by `enqueue` of a stream, 500 together, then are"
          + " acknowledged; 20 workers, poll every 5 s, a receipt in each job";

  private Worker peer(String name, String settings, double share, boolean receipts) {
    Class<?> main =
        switch (name) {
          case "spring-batch" -> SpringBatch.class;
          case "spring-inbox" -> SpringInbox.class;
          case "db-scheduler" -> DbSchedulerWorker.class;
          case "jobrunr" -> JobRunrWorker.class;
          default -> BareConsumer.class;
        };
    return new PeerWorker(name, settings, main, share, receipts, servers);
  }
}
