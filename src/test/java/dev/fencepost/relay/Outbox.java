package dev.fencepost.relay;

import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** An application's and an operator's view of the database of a test. */
record Outbox(String uri) {

  /** One row in a transaction of its own; the body is the text. */
  void insert(String exchange, String routingKey, String key, String body) {
    try (Connection connection = PostgresServer.connect(uri);
        PreparedStatement statement =
            connection.prepareStatement(
                "insert into fencepost.outbox (exchange, routing_key, type, key, payload)"
                    + " values (?, ?, 't', ?, convert_to(?, 'UTF8'))")) {
      statement.setString(1, exchange);
      statement.setString(2, routingKey);
      statement.setString(3, key);
      statement.setString(4, body);
      statement.execute();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Rows of keys {@code k0…k(keys-1)}, bodies {@code from…to}. */
  void insertMany(String exchange, String routingKey, int keys, int from, int to) {
    execute(
        "insert into fencepost.outbox (exchange, routing_key, type, key, payload) select '"
            + exchange
            + "', '"
            + routingKey
            + "', 't', 'k' || n % "
            + keys
            + ", convert_to(n::text, 'UTF8') from generate_series("
            + from
            + ", "
            + to
            + ") n");
  }

  void execute(String... sql) {
    PostgresServer.execute(uri, sql);
  }

  long number(String sql) {
    return Long.parseLong(String.valueOf(strings(sql).get(0)));
  }

  /** The first column. */
  List<String> strings(String sql) {
    List<String> strings = new ArrayList<>();
    try (Connection connection = PostgresServer.connect(uri);
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      while (result.next()) {
        strings.add(result.getString(1));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return strings;
  }

  long parked() {
    return number("select count(*) from fencepost.parked");
  }

  List<String> reasons() {
    return strings("select distinct reason from fencepost.parked order by 1");
  }

  /** From now on every row that is parked is noted, however soon it leaves again. */
  void noteParked() {
    execute(
        "create table public.noted (body text)",
        "create function public.note() returns trigger language plpgsql as"
            + " $$begin insert into public.noted values (convert_from(new.payload, 'UTF8'));"
            + " return new; end$$",
        "create trigger note before insert on fencepost.parked_rows"
            + " for each row execute function public.note()");
  }

  /** The bodies of all that were parked since {@link #noteParked()}, each once. */
  List<String> everParked() {
    return strings("select distinct body from public.noted order by 1");
  }

  void ask(String action, String key) {
    execute(
        "insert into fencepost.parked_requests (lane, seq, action, operator)"
            + " select lane, seq, '"
            + action
            + "', 'test' from fencepost.parked where key = '"
            + key
            + "' order by seq limit 1");
  }

  /** Asks for the first row of the key to be sent elsewhere. */
  void redirect(String key, String exchange, String routingKey) {
    execute(
        "insert into fencepost.parked_requests (lane, seq, action, exchange, routing_key, operator)"
            + " select lane, seq, 'redirect', '"
            + exchange
            + "', '"
            + routingKey
            + "', 'test' from fencepost.parked where key = '"
            + key
            + "' order by seq limit 1");
  }
}
