package dev.fencepost.bench;

import dev.fencepost.bench.peer.Messages;
import dev.fencepost.bench.peer.Writers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Publishes rows of an outbox. */
abstract class Relay extends Contender {

  /** Rows of one key lie this far apart when an outbox is filled. */
  static final int KEYS = 10_000;

  Relay(String name, String settings, Servers servers, String queueType) {
    super(name, settings, servers, queueType);
  }

  /** Commits so many rows in one transaction. */
  abstract void fill(int rows, int size);

  /** One row as an application writes it: parameters are key and payload. */
  abstract String insert();

  void write(PreparedStatement insert, int number, int size) throws SQLException {
    insert.setString(1, "order-" + number % KEYS);
    insert.setBytes(2, Messages.body(number, size));
    insert.execute();
  }

  /** Empties its outbox where the contender leaves rows behind that cost it something. */
  void tidy() {}

  Connection connect() throws SQLException {
    return database.connect();
  }

  /**
   * Commits events one by one at a rate, as an application does, and returns the moments of their
   * commits.
   */
  long[] commit(int events, int rate, int size) throws Exception {
    return Writers.run(events, rate, () -> new Inserts(size));
  }

  private final class Inserts implements Writers.Writer {
    private final Connection connection = connect();
    private final PreparedStatement insert = connection.prepareStatement(insert());
    private final int size;

    Inserts(int size) throws SQLException {
      this.size = size;
    }

    @Override
    public void commit(int event) throws SQLException {
      write(insert, event, size);
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }
}
