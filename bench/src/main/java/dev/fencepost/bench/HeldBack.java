package dev.fencepost.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/** The same work before and after a transaction has held back vacuum for a while. */
final class HeldBack implements Entrant {

  private final FencepostRelay relay;
  private final RelayThroughput throughput;
  private final int warmUps;
  private final int seconds;
  private Connection holder;

  HeldBack(FencepostRelay relay, int rows, int warmUps, int seconds) {
    this.relay = relay;
    this.throughput = new RelayThroughput(relay, rows, 256);
    this.warmUps = warmUps;
    this.seconds = seconds;
  }

  @Override
  public String name() {
    return relay.name();
  }

  @Override
  public String settings() {
    return "in between, rows are published for %d s beside an idle transaction with a snapshot and"
        .formatted(seconds)
        + " a transaction id";
  }

  @Override
  public void start() {
    throughput.start();
  }

  @Override
  public Map<String, Double> round(int number) {
    if (number == 0) {
      for (int i = 0; i < warmUps; i++) {
        throughput.round(0);
      }
      return throughput.round(0);
    }
    hold();
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (System.nanoTime() < end) {
      throughput.round(number);
    }
    return throughput.round(number);
  }

  private void hold() {
    try {
      holder = relay.connect();
      holder.setAutoCommit(false);
      holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (Statement statement = holder.createStatement()) {
        statement.execute("create table held (i int)");
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void freeze() {
    throughput.freeze();
  }

  @Override
  public void thaw() {
    throughput.thaw();
  }

  @Override
  public void close() {
    throughput.close();
  }

  @Override
  public JavaProcess process() {
    return throughput.process();
  }
}
