package dev.fencepost.bench;

import dev.fencepost.bench.handler.FiveMilliseconds;
import dev.fencepost.bench.handler.NoEffect;
import dev.fencepost.bench.handler.NoOperation;
import dev.fencepost.bench.handler.OneInHundredEffectsFails;
import dev.fencepost.bench.handler.OneInHundredFails;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What can be measured, by name. */
final class Scenarios {

  private static final int SMALL = 256;
  private static final int LARGE = 1024;
  private static final int COPIES = 10;

  /**
   * One thing to measure.
   *
   * @param about what it is, in a line
   */
  record Scenario(String about, Consumer<Scenarios> run) {}

  static final Map<String, Scenario> ALL = new LinkedHashMap<>();

  static {
    add(
        "relay",
        "committed rows of 256 B to a quorum queue",
        all -> all.relay("relay", "quorum", SMALL));
    add("worker", "a quorum queue worked off, a result for each message", Scenarios::worker);
    for (int rate : new int[] {100, 500, 1000, 5000}) {
      add(
          "latency-" + rate,
          "commit to delivery at %,d events a second".formatted(rate),
          all -> all.latency(rate));
    }
    add("fan-out", "each event to ten quorum queues", Scenarios::fanOut);
    add("failing", "worker: one message in a hundred fails for good", Scenarios::failing);
    add("together", "relay and worker in one process", Scenarios::together);
    add("backlog", "relay: backlogs of 10 thousand and a million rows, with -Xmx128m", Scenarios::backlog);
    add("idle", "what a process costs that has nothing to do", Scenarios::idle);
    add("start", "from the start of a process to its first result", Scenarios::startUp);
    add("relay-1k", "relay with 1 KiB", all -> all.relay("relay-1k", "quorum", LARGE));
    add(
        "relay-classic",
        "relay to a classic queue",
        all -> all.relay("relay-classic", "classic", SMALL));
    add(
        "relay-classic-1k",
        "relay to a classic queue with 1 KiB",
        all -> all.relay("relay-classic-1k", "classic", LARGE));
    add("five-ms", "worker: an asynchronous handler of 5 ms", Scenarios::fiveMilliseconds);
    add("lanes", "relay: 8 lanes over 1, 2 and 4 processes", Scenarios::lanes);
    add("vacuum", "relay: vacuum held back for ten minutes", Scenarios::vacuum);
  }

  private final Options options;
  private final Servers servers;
  private final Report report;

  Scenarios(Options options, Servers servers, Report report) {
    this.options = options;
    this.servers = servers;
    this.report = report;
  }

  private static void add(String name, String about, Consumer<Scenarios> run) {
    ALL.put(name, new Scenario(about, run));
  }

  static List<String> names() {
    return List.copyOf(ALL.keySet());
  }

  void run(String name) {
    System.out.println("\n" + name);
    ALL.get(name).run().accept(this);
  }

  private Peers peers() {
    return new Peers(options, servers);
  }

  /** Rounds of entrants whose compiler must have done its work before the first that counts. */
  private void throughput(String id, String title, List<? extends Entrant> entrants) {
    measure(id, title, entrants, Options.UNTIL_COMPILED, options.roundsThatCount());
  }

  private void measure(
      String id, String title, List<? extends Entrant> entrants, int warmUps, int rounds) {
    run(id, title, entrants, options.warmUpsOr(warmUps), 0, rounds);
  }

  private void run(
      String id,
      String title,
      List<? extends Entrant> entrants,
      int warmUps,
      int ageing,
      int rounds) {
    Map<String, String> settings = Report.settingsOf(entrants);
    Profiles profiles = new Profiles(id, options.profile());
    Series series = new Series(warmUps, ageing, rounds, profiles);
    Map<String, List<Map<String, Double>>> results = series.run(entrants);
    report.write(id, title, settings, provenance(warmUps, rounds), results);
  }

  private String provenance(int warmUps, int rounds) {
    return "%d %s after %d that only warm up%s"
        .formatted(
            rounds,
            rounds == 1 ? "round" : "rounds",
            warmUps,
            options.peers() == null ? "" : "; peers chosen by `--peers`");
  }

  private void relay(String id, String queueType, int size) {
    int rows = options.scaled(100_000);
    List<Entrant> entrants = new ArrayList<>();
    entrants.add(new RelayThroughput(new FencepostRelay(servers, queueType), rows, size));
    if (options.invites(Peer.PERFTEST)) {
      entrants.add(new BrokerLimit(servers, queueType, rows, size));
    }
    for (Relay peer : peers().relays(queueType, false)) {
      entrants.add(new RelayThroughput(peer, rows, size));
    }
    String title = "Relay: %,d committed rows of %d B to a %s queue";
    throughput(id, title.formatted(rows, size, queueType), entrants);
  }

  private void fanOut() {
    int rows = options.scaled(20_000);
    List<Entrant> entrants = new ArrayList<>();
    FencepostFanOut ours = new FencepostFanOut(servers, COPIES);
    entrants.add(new RelayThroughput(ours, ours.destination(), rows, SMALL));
    if (options.invites(Peer.PERFTEST)) {
      Fan fan = new Fan(servers.brokerUri(), "bench.limit.fan-out", COPIES);
      entrants.add(new BrokerLimit(servers, fan, rows, SMALL));
    }
    String title = "Fan-out: %,d events of 256 B, each to %d quorum queues; CPU per event";
    throughput("fan-out", title.formatted(rows, COPIES), entrants);
  }

  private void latency(int rate) {
    int seconds = options.seconds(10);
    List<Entrant> entrants = new ArrayList<>();
    entrants.add(new Latency(new FencepostRelay(servers, "quorum"), rate, seconds));
    for (Relay peer : peers().relays("quorum", true)) {
      entrants.add(new Latency(peer, rate, seconds));
    }
    measure(
        "latency-" + rate,
        "Commit to delivery at %,d events/s".formatted(rate),
        entrants,
        Options.FEW,
        options.roundsThatCount());
  }

  private void worker() {
    int messages = options.scaled(100_000);
    List<Entrant> entrants = new ArrayList<>();
    entrants.add(new WorkerThroughput(ours("effect", NoEffect.class), messages));
    entrants.add(new WorkerThroughput(ours("idempotent", NoOperation.class), messages));
    peers().workers().forEach(peer -> entrants.add(new WorkerThroughput(peer, messages)));
    throughput(
        "worker", "Worker: %,d messages of 256 B, quorum queue".formatted(messages), entrants);
  }

  private FencepostWorker ours(String kind, Class<?> handler) {
    return new FencepostWorker("fencepost " + kind, kind, handler, servers);
  }

  /** Each kind beside itself: a ratio says what the failures cost. */
  private void failing() {
    failing("failing", ours("effect", NoEffect.class), OneInHundredEffectsFails.class);
    failing("failing-idempotent", ours("idempotent", NoOperation.class), OneInHundredFails.class);
  }

  private void failing(String table, FencepostWorker none, Class<?> handler) {
    String kind = none.kind();
    int messages = options.scaled(100_000);
    FencepostWorker some =
        new FencepostWorker(kind + ", 1 % fail", kind, handler, servers);
    throughput(
        table,
        "Worker: one `%s` message in a hundred fails for good".formatted(kind),
        List.of(new WorkerThroughput(none, messages), new WorkerThroughput(some, messages)));
  }

  private void fiveMilliseconds() {
    int messages = options.scaled(50_000);
    Entrant entrant =
        new WorkerThroughput(
            new FencepostWorker("fencepost 5 ms", "idempotent", FiveMilliseconds.class, servers),
            messages);
    throughput("five-ms", "Worker: an asynchronous handler of 5 ms", List.of(entrant));
  }

  private void together() {
    Entrant entrant = new Together(new FencepostBoth(servers), options.scaled(100_000));
    throughput("together", "Relay and worker together", List.of(entrant));
  }

  private void idle() {
    Entrant entrant =
        new Idle(new FencepostBoth(servers, 100), options.seconds(480), options.seconds(30));
    measure(
        "idle", "Idle: 100 queues, 8 lanes", List.of(entrant), 0, options.roundsThatCount());
  }

  private void startUp() {
    Entrant entrant = new StartUp(new FencepostBoth(servers));
    measure("start", "Start-up", List.of(entrant), Options.FEW, options.roundsThatCount());
  }

  private void backlog() {
    List<Entrant> entrants = new ArrayList<>();
    int rounds = options.roundsOr(options.huge() ? 1 : 3);
    entrants.add(backlog(options.scaled(10_000), options.shortForm() ? 2 : 50, rounds));
    entrants.add(backlog(options.scaled(1_000_000), 1, rounds));
    if (options.huge()) {
      entrants.add(backlog(options.scaled(10_000_000), 1, rounds));
    }
    // Warmed up when they start: a round of the large one takes long.
    String title = "Relay: a backlog from beginning to end, with -Xmx128m";
    run("backlog", title, entrants, 0, 0, rounds);
  }

  private Entrant backlog(int rows, int times, int rounds) {
    String backlogs = times == 1 ? "one backlog" : times + " backlogs";
    String more = "; %s a round, %s".formatted(backlogs, rounds == 1 ? "1 round" : rounds + " rounds");
    String name = "fencepost %,d rows".formatted(rows);
    FencepostRelay relay = new FencepostRelay(name, more, servers, "quorum", "-Xmx128m");
    return new Backlog(relay, rows, options.warmUpsOr(Options.UNTIL_COMPILED), times, SMALL);
  }

  private void lanes() {
    List<Entrant> entrants = new ArrayList<>();
    for (int processes : new int[] {1, 2, 4}) {
      entrants.add(
          new RelayThroughput(
              new FencepostFleet(servers, processes), options.scaled(100_000), SMALL));
    }
    throughput("lanes", "Relay: 8 lanes over 1, 2 and 4 processes", entrants);
  }

  private void vacuum() {
    int rows = options.scaled(100_000);
    int seconds = options.seconds(600);
    String more =
        "; an idle transaction with a snapshot and a transaction id is open from its start on";
    FencepostRelay free = new FencepostRelay(servers, "quorum");
    FencepostRelay beside = new FencepostRelay("fencepost, held back", more, servers, "quorum");
    List<Entrant> entrants =
        List.of(
            new HeldBack(free, rows, SMALL, false), new HeldBack(beside, rows, SMALL, true));
    String title = "Relay: vacuum held back by an open transaction, after %d s of work for both";
    int warmUps = options.warmUpsOr(Options.UNTIL_COMPILED);
    run("vacuum", title.formatted(seconds), entrants, warmUps, seconds, options.roundsThatCount());
  }
}
