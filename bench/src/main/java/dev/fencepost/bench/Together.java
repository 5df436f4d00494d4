package dev.fencepost.bench;

import java.util.Map;

/** Rows in the outbox until results in the database: everything on one machine. */
final class Together extends ContenderEntrant<FencepostBoth> {

  private final int rows;

  Together(FencepostBoth contender, int rows) {
    super(contender);
    this.rows = rows;
  }

  @Override
  public Map<String, Double> round(int number) {
    long before = contender.finished();
    contender.database().forgetStatements();
    contender.fill(rows, 256);
    Figures.Moment from =
        passes(() -> contender.finished() - before, count -> count >= rows / 10);
    Figures.Moment to = passes(() -> contender.finished() - before, count -> count >= rows);
    Map<String, Double> figures = Figures.between(from, to);
    figures.put(Figures.STATEMENTS, statementsPer(rows));
    figures.put(Figures.MEMORY, memory());
    return figures;
  }
}
