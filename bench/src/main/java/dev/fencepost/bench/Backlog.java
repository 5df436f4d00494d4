package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The same relay with a backlog of one size or another. Both are warmed up alike beforehand, and a
 * small backlog is worked off several times a round: one alone is too short for the kernel's clock.
 */
final class Backlog implements Entrant {

  private static final int WARMING = 100_000;

  private final FencepostRelay relay;
  private final RelayThroughput warming;
  private final RelayThroughput throughput;
  private final int warmUps;
  private final int times;

  Backlog(FencepostRelay relay, int rows, int warmUps, int times, int size) {
    this.relay = relay;
    this.warming = new RelayThroughput(relay, WARMING, size);
    this.throughput = new RelayThroughput(relay, rows, size);
    this.warmUps = warmUps;
    this.times = times;
  }

  @Override
  public String name() {
    return relay.name();
  }

  @Override
  public String settings() {
    return relay.settings() + (times == 1 ? "" : "; mean of " + times + " backlogs a round");
  }

  @Override
  public void start() {
    throughput.start();
    for (int i = 0; i < warmUps; i++) {
      warming.round(i);
    }
  }

  @Override
  public Map<String, Double> round(int number) {
    List<Map<String, Double>> all = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      all.add(throughput.round(number));
    }
    Map<String, Double> mean = new LinkedHashMap<>();
    all.get(0)
        .keySet()
        .forEach(
            figure ->
                mean.put(
                    figure, all.stream().mapToDouble(f -> f.get(figure)).average().orElseThrow()));
    return mean;
  }

  @Override
  public void freeze() {
    throughput.freeze();
  }

  @Override
  public void thaw() {
    throughput.thaw();
  }

  @Override
  public JavaProcess process() {
    return throughput.process();
  }

  @Override
  public void close() {
    throughput.close();
  }
}
