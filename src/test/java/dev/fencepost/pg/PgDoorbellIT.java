package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PgDoorbellIT {
  /** One byte less than a schema may have: as a channel's name it is too long. */
  private static final String TOO_LONG = "s".repeat(62);

  @Test
  void whereItCannotListenItTriesAgainAndDoesNotMultiply() throws Exception {
    String uri = TestServers.postgres().newDatabase();
    Vertx vertx = Vertx.vertx();
    String name = uri.replaceAll(".*/([^/?]+).*", "$1");
    try (Connection connection = PostgresServer.connect(TestServers.postgres().uri());
        Statement statement = connection.createStatement()) {
      PgDatabase database =
          PgDatabase.open(
              vertx, new FencepostConfig.Database(List.of(uri), TOO_LONG, 1), "doorbell test");
      PgDoorbell doorbell = new PgDoorbell(vertx, database);
      doorbell.listen(() -> {});
      Await.until("an attempt", () -> sessions(statement, name) >= 1);
      long first = System.nanoTime();
      Await.until("four attempts", () -> sessions(statement, name) >= 4);
      assertThat(Duration.ofNanos(System.nanoTime() - first)).isGreaterThan(Duration.ofSeconds(13));
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
  }

  private static long sessions(Statement statement, String database) throws Exception {
    try (ResultSet row =
        statement.executeQuery(
            "select sessions from pg_stat_database where datname = '" + database + "'")) {
      row.next();
      return row.getLong(1);
    }
  }
}
