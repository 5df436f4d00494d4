package dev.fencepost.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;

/**
 * How fast committed rows reach the queue: all rows become visible at one commit, and the depth of
 * the queue is watched from a tenth to all of them. Nobody consumes meanwhile.
 */
class RelayThroughput extends ContenderEntrant<Relay> {

  private static final int PRIMERS = 64;

  private final Destination destination;
  private final int rows;
  private final int size;

  RelayThroughput(Relay relay, int rows, int size) {
    this(relay, relay.queue(), rows, size);
  }

  RelayThroughput(Relay relay, Destination destination, int rows, int size) {
    super(relay);
    this.destination = destination;
    this.rows = Math.max(1000, (int) (rows * relay.share()));
    this.size = size;
  }

  @Override
  public Map<String, Double> round(int number) {
    destination.recreate();
    contender.tidy();
    prime();
    contender.database().forgetStatements();
    // Frozen, it takes no snapshot while the rows are there and not yet committed.
    contender.stop();
    contender.fill(rows, size);
    contender.resume();
    Deepest depth = new Deepest(destination);
    Figures.Moment from = passes(depth::now, count -> count >= PRIMERS + rows / 10);
    Figures.Moment to = passes(depth::now, count -> count >= PRIMERS + rows);
    Map<String, Double> figures = Figures.between(from, to, destination.copies());
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
    until("the first rows arrive", () -> destination.depth() >= PRIMERS);
  }

  /** A quorum queue that is too busy to answer says 0. */
  private static final class Deepest {
    private final Destination destination;
    private long deepest;

    Deepest(Destination destination) {
      this.destination = destination;
    }

    long now() {
      deepest = Math.max(deepest, destination.depth());
      return deepest;
    }
  }
}
