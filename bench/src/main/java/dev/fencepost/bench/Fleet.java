package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The same lanes shared by several processes. */
final class Fleet implements Entrant {

  private final int processes;
  private final FencepostRelay first;
  private final RelayThroughput throughput;
  private final List<JavaProcess> others = new ArrayList<>();

  Fleet(Servers servers, int processes, int rows) {
    this.processes = processes;
    this.first = new FencepostRelay("fencepost x" + processes, "", servers, "quorum");
    this.throughput = new RelayThroughput(first, rows, 256);
  }

  @Override
  public String name() {
    return first.name();
  }

  @Override
  public String settings() {
    return processes + " process(es); own CPU and memory are the first one's";
  }

  @Override
  public void start() {
    throughput.start();
    for (int i = 1; i < processes; i++) {
      others.add(first.another(i));
    }
  }

  @Override
  public Map<String, Double> round(int number) {
    return throughput.round(number);
  }

  @Override
  public void freeze() {
    others.forEach(JavaProcess::stop);
    throughput.freeze();
  }

  @Override
  public void thaw() {
    throughput.thaw();
    others.forEach(JavaProcess::resume);
    try {
      // The lanes are shared anew.
      Thread.sleep(processes == 1 ? 0 : 12_000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    others.forEach(JavaProcess::close);
    throughput.close();
  }

  @Override
  public JavaProcess process() {
    return throughput.process();
  }
}
