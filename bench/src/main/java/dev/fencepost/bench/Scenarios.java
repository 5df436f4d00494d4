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

/** What can be measured, by name. */
final class Scenarios {

  private static final int SMALL = 256;

  private final Options options;
  private final Servers servers;
  private final Report report;
  private final Map<String, Runnable> all = new LinkedHashMap<>();

  Scenarios(Options options, Servers servers, Report report) {
    this.options = options;
    this.servers = servers;
    this.report = report;
    all.put("relay", () -> relay("relay", "quorum", SMALL));
    all.put("worker", this::worker);
    for (int rate : new int[] {100, 500, 1000, 5000}) {
      all.put("latency-" + rate, () -> latency(rate));
    }
    all.put("failing", this::failing);
    all.put("together", () -> single("together", "Relay and worker together", this::together));
    all.put("backlog", this::backlog);
    all.put("idle", () -> single("idle", "Idle: 100 queues, 8 lanes", this::idle));
    all.put("start", () -> single("start", "Start-up", this::startUp));
    all.put("relay-1k", () -> relay("relay-1k", "quorum", 1024));
    all.put("relay-classic", () -> relay("relay-classic", "classic", SMALL));
    all.put("five-ms", this::fiveMilliseconds);
    all.put("lanes", this::lanes);
    all.put("vacuum", this::vacuum);
  }

  List<String> names() {
    return List.copyOf(all.keySet());
  }

  void run(String name) {
    Runnable scenario = all.get(name);
    if (scenario == null) {
      throw new IllegalArgumentException("no scenario " + name + "; there are " + all.keySet());
    }
    System.out.println("\n" + name);
    scenario.run();
  }

  private Peers peers() {
    return new Peers(options, servers);
  }

  private void measure(String id, String title, List<? extends Entrant> entrants) {
    Map<String, String> settings = Report.settingsOf(entrants);
    report.write(id, title, settings, options.series().run(entrants));
  }

  private void single(String id, String title, java.util.function.Supplier<Entrant> entrant) {
    measure(id, title, List.of(entrant.get()));
  }

  private void relay(String id, String queueType, int size) {
    int rows = options.scaled(100_000);
    List<Entrant> entrants = new ArrayList<>();
    entrants.add(new RelayThroughput(new FencepostRelay(servers, queueType), rows, size));
    if (options.invites("perftest")) {
      entrants.add(new BrokerLimit(servers, queueType, rows, size));
    }
    for (Relay peer : peers().relays(queueType)) {
      entrants.add(new RelayThroughput(peer, rows, size));
    }
    String title = "Relay: %,d committed rows of %d B to a %s queue";
    measure(id, title.formatted(rows, size, queueType), entrants);
  }

  private void latency(int rate) {
    int seconds = options.seconds(10);
    List<Entrant> entrants = new ArrayList<>();
    entrants.add(new Latency(new FencepostRelay(servers, "quorum"), rate, seconds));
    for (Relay peer : peers().relays("quorum")) {
      entrants.add(new Latency(peer, rate, seconds));
    }
    measure("latency-" + rate, "Commit to delivery at %,d events/s".formatted(rate), entrants);
  }

  private void worker() {
    int messages = options.scaled(100_000);
    List<Entrant> entrants = new ArrayList<>();
    entrants.add(new WorkerThroughput(ours("effect", NoEffect.class), messages));
    entrants.add(new WorkerThroughput(ours("idempotent", NoOperation.class), messages));
    peers().workers().forEach(peer -> entrants.add(new WorkerThroughput(peer, messages)));
    measure("worker", "Worker: %,d messages of 256 B, quorum queue".formatted(messages), entrants);
  }

  private FencepostWorker ours(String kind, Class<?> handler) {
    return new FencepostWorker("fencepost " + kind, kind, handler, servers);
  }

  private void failing() {
    int messages = options.scaled(100_000);
    List<Entrant> entrants = new ArrayList<>();
    Map<String, Class<?>> handlers = new LinkedHashMap<>();
    handlers.put("idempotent", NoOperation.class);
    handlers.put("effect", NoEffect.class);
    handlers.forEach(
        (kind, handler) ->
            entrants.add(
                new WorkerThroughput(
                    new FencepostWorker("fencepost " + kind, kind, handler, servers), messages)));
    handlers.put("idempotent", OneInHundredFails.class);
    handlers.put("effect", OneInHundredEffectsFails.class);
    handlers.forEach(
        (kind, handler) ->
            entrants.add(
                new WorkerThroughput(
                    new FencepostWorker(kind + " 1 % failing", kind, handler, servers), messages)));
    measure("failing", "Worker: one message in a hundred fails for good", entrants);
  }

  private void fiveMilliseconds() {
    int messages = options.scaled(50_000);
    Entrant entrant =
        new WorkerThroughput(
            new FencepostWorker("fencepost 5 ms", "idempotent", FiveMilliseconds.class, servers),
            messages);
    measure("five-ms", "Worker: an asynchronous handler of 5 ms", List.of(entrant));
  }

  private Entrant together() {
    return new Together(new FencepostBoth(servers), options.scaled(100_000));
  }

  private Entrant idle() {
    return new Idle(new FencepostBoth(servers, 100), options.seconds(30));
  }

  private Entrant startUp() {
    return new StartUp(new FencepostBoth(servers));
  }

  private void backlog() {
    List<Entrant> entrants = new ArrayList<>();
    int most = options.huge() ? 10_000_000 : 1_000_000;
    entrants.add(backlog("10 thousand", options.scaled(10_000)));
    entrants.add(backlog("%,d".formatted(most), options.scaled(most)));
    Series once = new Series(1, options.shortForm() ? 1 : Math.min(3, options.rounds()));
    report.write(
        "backlog",
        "Relay: backlog, with -Xmx128m",
        Report.settingsOf(entrants),
        once.run(entrants));
  }

  private Entrant backlog(String name, int rows) {
    return new RelayThroughput(
        new FencepostRelay("fencepost " + name, "", servers, "quorum", "-Xmx128m"), rows, SMALL);
  }

  private void lanes() {
    List<Entrant> entrants = new ArrayList<>();
    for (int processes : new int[] {1, 2, 4}) {
      entrants.add(new Fleet(servers, processes, options.scaled(100_000)));
    }
    measure("lanes", "Relay: 8 lanes over 1, 2 and 4 processes", entrants);
  }

  private void vacuum() {
    int rows = options.scaled(100_000);
    Entrant entrant =
        new HeldBack(new FencepostRelay(servers, "quorum"), rows, options.seconds(600));
    Series once = new Series(0, 2);
    Map<String, String> settings = Report.settingsOf(List.of(entrant));
    report.write(
        "vacuum",
        "Relay: vacuum held back by an open transaction (first round without, second with)",
        settings,
        once.run(List.of(entrant)));
  }
}
