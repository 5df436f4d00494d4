package dev.fencepost.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;

/**
 * How fast committed rows reach the queue: all rows become visible at one commit, and the depth of
 * the queue is watched from a tenth to all of them. Nobody consumes meanwhile.
 */
final class RelayThroughput extends ContenderEntrant<Relay> {

  private static final int PRIMERS = 64;

  private final int rows;
  private final int size;

  RelayThroughput(Relay relay, int rows, int size) {
    super(relay);
    this.rows = Math.max(1000, (int) (rows * relay.share()));
    this.size = size;
  }

  @Override
  public Map<String, Double> round(int number) {
    Queue queue = contender.queue();
    queue.recreate();
    contender.tidy();
    prime();
    contender.database().forgetStatements();
    // Frozen, it takes no snapshot while the rows are there and not yet committed.
    contender.process().stop();
    contender.fill(rows, size);
    contender.process().resume();
    Deepest depth = new Deepest(queue);
    Figures.Moment from = passes(depth::now, count -> count >= PRIMERS + rows / 10);
    Figures.Moment to = passes(depth::now, count -> count >= PRIMERS + rows);
    Map<String, Double> figures = Figures.between(from, to);
    figures.put(Figures.STATEMENTS, statementsPer(rows));
    figures.put(Figures.MEMORY, memory());
    return figures;
  }

  /** The relay is awake and owns all its lanes when these have arrived. */
  private void prime() {
    try (Connection connection = contender.connect();
        PreparedStatement insert = connection.prepareStatement(contender.insert())) {
      for (int i = 0; i < PRIMERS; i++) {
        contender.write(insert, i, size);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    until("the first rows arrive", () -> contender.queue().depth() >= PRIMERS);
  }

  /** A quorum queue that is too busy to answer says 0. */
  private static final class Deepest {
    private final Queue queue;
    private long deepest;

    Deepest(Queue queue) {
      this.queue = queue;
    }

    long now() {
      deepest = Math.max(deepest, queue.depth());
      return deepest;
    }
  }
}
