package dev.fencepost.bench;

import dev.fencepost.testing.Await;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** From the start of a process to the result of an event that was waiting for it. */
final class StartUp extends ContenderEntrant<FencepostBoth> {

  StartUp(FencepostBoth contender) {
    super(contender);
  }

  @Override
  public void freeze() {
    contender.process().resume();
    contender.process().terminate();
  }

  @Override
  public void thaw() {}

  @Override
  public Map<String, Double> round(int number) {
    long before = contender.finished();
    contender.fill(1, 256);
    long start = System.nanoTime();
    try (JavaProcess process = contender.again()) {
      Await.until(
          "the first result",
          Duration.ofMinutes(2),
          () -> !process.isAlive() || contender.finished() > before);
      if (!process.isAlive()) {
        throw new IllegalStateException(process.logText());
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      Map<String, Double> figures = new LinkedHashMap<>();
      figures.put("seconds_to_the_first_result", seconds);
      figures.put("CPU_seconds", Proc.cpu(process.pid()));
      figures.put(Figures.MEMORY, (double) Proc.residentMebibytes(process.pid()));
      process.terminate();
      return figures;
    }
  }

  @Override
  public JavaProcess process() {
    return null;
  }
}
