package dev.fencepost.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/** A relay beside which a transaction may hold back vacuum from its start on. */
final class HeldBack extends RelayThroughput {

  private final boolean held;

  /** Open as long as its server runs. */
  private Connection holder;

  HeldBack(FencepostRelay relay, int rows, int size, boolean held) {
    super(relay, rows, size);
    this.held = held;
  }

  @Override
  public void start() {
    super.start();
    if (held) {
      hold();
    }
  }

  @Override
  public Map<String, Double> round(int number) {
    return Figures.withCost(super.round(number));
  }

  private void hold() {
    try {
      holder = contender.connect();
      holder.setAutoCommit(false);
      holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (Statement statement = holder.createStatement()) {
        statement.execute("create table held (i int)");
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
