package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.cli.Main;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code fencepost outbox replay}, as an operator runs it, beside a relay. */
class ReplayIT {
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final FencepostConfig.Relay relay = RelayConfigs.relay(8);
  @TempDir private Path folder;
  private Outbox outbox;

  @BeforeEach
  void migrate() throws IOException {
    outbox = new Outbox(Databases.migrated(relay));
    Files.writeString(
        folder.resolve("fencepost.yaml"), "database: {uris: [\"" + outbox.uri() + "\"]}\n");
  }

  private JsonObject replay(String... options) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    List<String> line =
        new ArrayList<>(
            List.of("outbox", "replay", "-c", folder.resolve("fencepost.yaml").toString()));
    line.add("--json");
    line.addAll(List.of(options));
    int code =
        Main.run(
            new PrintWriter(out, true), new PrintWriter(err, true), line.toArray(String[]::new));
    assertThat(code).as(err.toString()).isZero();
    return new JsonObject(out.toString());
  }

  private List<String> audited() {
    List<String> lines = new ArrayList<>();
    try (Connection connection = PostgresServer.connect(outbox.uri());
        ResultSet line =
            connection
                .createStatement()
                .executeQuery(
                    "select concat_ws(' ', actor, action, evidence, substring(detail from 'rows=.*'))"
                        + " from fencepost.audit_log order by at, id")) {
      while (line.next()) {
        lines.add(line.getString(1));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return lines;
  }

  private List<String> bodies() {
    return broker.rows().stream()
        .map(row -> new String(row.message().body(), StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void publishesWhatIsRetainedOnceMore() {
    outbox.insertMany("", "q", 10, 1, 2500);
    outbox.insertMany("orders", "q", 10, 2501, 2600);
    try (RelayProcess process =
        new RelayProcess(
            RelayConfigs.database(outbox.uri()),
            relay,
            vertx -> new FakePublisher(vertx, broker))) {
      Await.until("all", () -> broker.arrived.size() == 2600);
      JsonObject dry = replay("--since", "1h", "--dry-run");
      assertThat(dry.getLong("matched")).isEqualTo(2600);
      assertThat(dry.getLong("replayed")).isZero();
      assertThat(dry.getString("note")).contains("follow newer events of their key");
      assertThat(
              replay(
                      "--since",
                      "1h",
                      "--exchange",
                      "orders",
                      "--operator",
                      "anna",
                      "--note",
                      "mail was down")
                  .getLong("replayed"))
          .isEqualTo(100);
      assertThat(audited())
          .as("of the dry run nothing, of a replay its start and its end")
          .containsExactly(
              "anna outbox_replay mail was down", "anna outbox_replay_done mail was down rows=100");
      Await.until("the copies", () -> broker.arrived.size() == 2700);
      assertThat(broker.rows().subList(2600, 2700))
          .allMatch(row -> row.message().headers().contains("\"fencepost-replay\": true"));
      assertThat(broker.rows().stream().map(row -> row.eventId()).distinct()).hasSize(2600);
      // Copies are not copied again.
      assertThat(replay("--since", "1h").getLong("replayed")).isEqualTo(2600);
      Await.until("the copies", () -> broker.arrived.size() == 5300);
      List<String> again = bodies().subList(2700, 5300);
      for (int key = 0; key < 10; key++) {
        int of = key;
        assertThat(again.stream().map(Integer::valueOf).filter(n -> n % 10 == of))
            .as("in the order of the key")
            .isSorted();
      }
      assertThat(replay("--since", "1h", "--until", "30m").getLong("replayed")).isZero();
      assertThat(replay("--since", "1h", "--type", "other").getLong("matched")).isZero();
      assertThat(process.lanes()).isEqualTo(8);
    }
  }
}
