package dev.fencepost.bench;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a process costs that has nothing to do. */
final class Idle extends ContenderEntrant<FencepostBoth> {

  private final int firstRest;
  private final int seconds;

  /**
   * @param firstRest seconds before the first round: what a process burns in its first minutes is
   *     mostly its compiler's
   */
  Idle(FencepostBoth contender, int firstRest, int seconds) {
    super(contender);
    this.firstRest = firstRest;
    this.seconds = seconds;
  }

  @Override
  public Map<String, Double> round(int number) {
    // Past its start, or past what it did when it was thawed.
    rest(number == 0 ? firstRest : 5);
    contender.database().forgetStatements();
    Contender.Cpu before = contender.cpu();
    rest(seconds);
    Contender.Cpu used = contender.cpu().minus(before);
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("own_%_of_a_core", used.own() * 100 / seconds);
    figures.put("PostgreSQL_%_of_a_core", used.postgres() * 100 / seconds);
    figures.put("statements_a_second", statementsPer(seconds));
    figures.put(Figures.MEMORY, memory());
    return figures;
  }

  private static void rest(int seconds) {
    try {
      Thread.sleep(Duration.ofSeconds(seconds).toMillis());
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
