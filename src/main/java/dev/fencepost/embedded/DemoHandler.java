package dev.fencepost.embedded;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.embedded.DemoPlan.Behaviour;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;

/**
 * Calls the demo's remote, which keeps a table of calls and one of effects: it deduplicates
 * notifications by event id, and charges whenever it is asked to.
 */
public final class DemoHandler implements BlockingActivityHandler {

  private static final String CALL =
      "insert into demo.calls (event_id, what, attempt) values (?, ?, ?)";
  private static final String CHARGE = "insert into demo.effects (event_id, what) values (?, ?)";
  private static final String NOTIFY =
      "insert into demo.effects (event_id, what) select e.id, ? from (select ?::text as id) e"
          + " where not exists (select from demo.effects f where f.event_id = e.id)";

  private final DemoDatabase database;
  private final boolean doomed;

  @SuppressWarnings("ThreadLocalUsage") // each handler talks to its own database
  private final ThreadLocal<Connection> connections = new ThreadLocal<>();

  /**
   * @param doomed never comes back from a call that the plan lets die
   */
  public DemoHandler(DemoDatabase database, boolean doomed) {
    this.database = database;
    this.doomed = doomed;
  }

  @Override
  public Receipt run(ActivityContext context) throws Exception {
    Behaviour behaviour = behaviour(context);
    called(context);
    switch (behaviour) {
      case FAILS_ONCE, FAILS_TWICE, FAILS_FOREVER -> {
        int failures =
            behaviour == Behaviour.FAILS_ONCE
                ? 1
                : behaviour == Behaviour.FAILS_TWICE ? 2 : Integer.MAX_VALUE;
        if (context.attempt() <= failures) {
          throw new TransientFailure("the remote is busy, start " + context.attempt());
        }
      }
      case REFUSED -> throw new PermanentFailure("the remote knows no such customer");
      default -> {}
    }
    if (doomed && behaviour == Behaviour.KILLED_RENDERING) {
      never();
    }
    happened(context);
    if (doomed && behaviour == Behaviour.KILLED_CHARGING) {
      never();
    }
    if (behaviour == Behaviour.ANSWER_LOST) {
      throw new IllegalStateException("the connection was lost before the answer came");
    }
    return Receipt.succeeded("demo-" + context.eventId());
  }

  private static Behaviour behaviour(ActivityContext context) {
    String body = new String(context.body(), StandardCharsets.UTF_8);
    return Behaviour.valueOf(body.replaceAll(".*\"behaviour\": \"(\\w+)\".*", "$1"));
  }

  private void called(ActivityContext context) throws SQLException {
    try (PreparedStatement statement = connection().prepareStatement(CALL)) {
      statement.setString(1, context.eventId());
      statement.setString(2, context.type());
      statement.setInt(3, context.attempt());
      statement.executeUpdate();
    }
  }

  private void happened(ActivityContext context) throws SQLException {
    boolean charge = context.type().equals("demo.charged");
    try (PreparedStatement statement = connection().prepareStatement(charge ? CHARGE : NOTIFY)) {
      statement.setString(charge ? 1 : 2, context.eventId());
      statement.setString(charge ? 2 : 1, context.type());
      statement.executeUpdate();
    }
  }

  private Connection connection() throws SQLException {
    Connection connection = connections.get();
    if (connection == null || connection.isClosed()) {
      connection = database.open();
      connections.set(connection);
    }
    return connection;
  }

  private static void never() throws InterruptedException {
    new CountDownLatch(1).await();
  }
}
