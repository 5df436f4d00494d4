package dev.fencepost.bench;

import java.time.Duration;
import java.util.Map;

/** Rows in the outbox until results in the database: everything on one machine. */
final class Together extends ContenderEntrant<FencepostBoth> {

  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  private final int rows;

  Together(FencepostBoth contender, int rows) {
    super(contender);
    this.rows = rows;
  }

  @Override
  public Map<String, Double> round(int number) {
    // Counting results costs more the more there are, and it is the same PostgreSQL.
    contender.database().execute("truncate fencepost.activity");
    contender.stop();
    contender.fill(rows, 256);
    contender.database().forgetStatements();
    contender.resume();
    Figures.Moment from = passes(contender::finished, count -> count >= rows / 10, LOOK_EVERY);
    Figures.Moment to = passes(contender::finished, count -> count >= rows, LOOK_EVERY);
    Map<String, Double> figures = Figures.between(from, to);
    figures.put(Figures.STATEMENTS, statementsPer(rows));
    figures.put(Figures.MEMORY, memory());
    return figures;
  }
}
