package dev.fencepost.bench;

import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;

/**
 * The time from the return of a commit to the arrival at a plain consumer, by one clock: one row a
 * transaction, at a fixed rate, by several writers.
 */
final class Latency extends ContenderEntrant<Relay> {

  private static final int SIZE = 256;

  private final int rate;
  private final int warmUp;
  private final int events;

  Latency(Relay relay, int rate, int seconds) {
    super(relay);
    this.rate = rate;
    this.warmUp = rate * 2;
    this.events = warmUp + rate * seconds;
  }

  @Override
  public Map<String, Double> round(int number) {
    contender.queue().recreate();
    contender.tidy();
    AtomicLongArray arrived = new AtomicLongArray(events);
    AtomicInteger missing = new AtomicInteger(events);
    try (AutoCloseable consumer =
        contender
            .queue()
            .consume(
                event -> {
                  if (arrived.compareAndSet(event, 0, System.nanoTime())) {
                    missing.decrementAndGet();
                  }
                })) {
      Contender.Cpu before = contender.cpu();
      long[] committed = contender.commit(events, rate, SIZE);
      until("every event has arrived", () -> missing.get() == 0);
      return figures(committed, arrived, contender.cpu().minus(before));
    } catch (Exception e) {
      throw new IllegalStateException(name(), e);
    }
  }

  private Map<String, Double> figures(
      long[] committed, AtomicLongArray arrived, Contender.Cpu cpu) {
    Histogram histogram = new Histogram(3);
    for (int event = warmUp; event < events; event++) {
      // It may arrive before the writer's thread is told that its commit is done.
      histogram.recordValue(Math.max(0, arrived.get(event) - committed[event]));
    }
    LongSummaryStatistics commits = LongStream.of(committed).summaryStatistics();
    Map<String, Double> figures = Figures.of(events, commits.getMax() - commits.getMin(), cpu);
    figures.put(Figures.P50, histogram.getValueAtPercentile(50) / 1e6);
    figures.put(Figures.P99, histogram.getValueAtPercentile(99) / 1e6);
    figures.put(Figures.P999, histogram.getValueAtPercentile(99.9) / 1e6);
    return figures;
  }
}
