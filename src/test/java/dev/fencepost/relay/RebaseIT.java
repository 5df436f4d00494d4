package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.cli.Main;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.pg.Migrations;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** R25: dump and restore into another cluster; and another number of lanes. */
class RebaseIT {
  private static final FencepostConfig.Relay RELAY = RelayConfigs.relay(4);
  @TempDir private Path folder;
  private String vhost;
  private Arrivals arrivals;

  /** Nothing takes what goes to {@code later} until it is bound. */
  @BeforeEach
  void start() throws Exception {
    vhost = TestServers.broker().newVhost();
    arrivals = Arrivals.of(vhost, "q");
    arrivals.channel.exchangeDeclare("later", "fanout", true);
  }

  @AfterEach
  void stop() {
    arrivals.close();
  }

  private record Ran(int code, String out, String err) {}

  private Ran migrate(String uri, int lanes, String... options) throws IOException {
    Path file = folder.resolve("fencepost.yaml");
    Files.writeString(file, "database: {uris: [\"" + uri + "\"]}\nrelay: {lanes: " + lanes + "}\n");
    List<String> line = new ArrayList<>(List.of("migrate", "-c", file.toString()));
    line.addAll(Arrays.asList(options));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(out, true), new PrintWriter(err, true), line.toArray(String[]::new));
    return new Ran(code, out.toString(), err.toString());
  }

  private RelayProcess relay(String uri, int lanes) {
    return RelayProcess.onRabbit(uri, vhost, RelayConfigs.relay(lanes));
  }

  private List<Integer> arrived() {
    return arrivals.texts().stream().map(Integer::valueOf).toList();
  }

  /** 1 to 500 published, 501 to 800 not, of which those of k0 are parked behind the first. */
  private void halfPublished(Outbox outbox) {
    outbox.insertMany("", "q", 10, 1, 500);
    try (RelayProcess process = relay(outbox.uri(), 4)) {
      Await.until("500 rows", () -> arrivals.all.size() == 500);
      outbox.insertMany("later", "", 1, 501, 510);
      Await.until("parked", () -> outbox.parked() == 10);
      assertThat(process.lanes()).isEqualTo(4);
    }
    outbox.insertMany("", "q", 10, 511, 800);
  }

  /** Everything that was not published comes, once, in order; then what is written anew. */
  private void goesOn(Outbox outbox, int lanes) throws IOException {
    arrivals.all.clear();
    arrivals.channel.queueBind("q", "later", "");
    try (RelayProcess process = relay(outbox.uri(), lanes)) {
      Await.until("lanes", () -> process.lanes() == lanes);
      outbox.insertMany("", "q", 10, 801, 900);
      Await.until("the rest", () -> arrivals.all.size() >= 400);
      Await.until("none parked", () -> outbox.parked() == 0);
      List<Integer> arrived = arrived();
      assertThat(arrived).as("none twice").hasSize(400);
      assertThat(new HashSet<>(arrived))
          .isEqualTo(new HashSet<>(IntStream.rangeClosed(501, 900).boxed().toList()));
      for (int key = 0; key < 10; key++) {
        String of = "k" + key;
        assertThat(
                arrivals.all.stream()
                    .filter(each -> of.equals(each.key()))
                    .map(each -> Integer.valueOf(each.text())))
            .as(of)
            .isSorted();
      }
    }
  }

  @Test
  void aDumpRestoredIntoAnotherClusterLosesNothing() throws Exception {
    try (PostgresServer there = PostgresServer.start();
        PostgresServer here = PostgresServer.start()) {
      Outbox before = new Outbox(there.newDatabase());
      Databases.migrate(before.uri(), RELAY);
      // The new cluster's transaction ids are then far behind those of the dump.
      before.execute(
          "create procedure burn() language plpgsql as $$ begin for i in 1..5000 loop"
              + " perform pg_current_xact_id(); commit; end loop; end $$",
          "call burn()",
          "drop procedure burn()");
      halfPublished(before);
      Outbox after = new Outbox(here.newDatabase());
      here.restore(there.dump(before.uri()), after.uri());

      Vertx vertx = Vertx.vertx();
      FencepostConfig config =
          RelayConfigs.whole(
              RelayConfigs.database(after.uri()), RelayConfigs.broker("amqp://localhost"), RELAY);
      Throwable refused = Await.failure(new Migrations(vertx, config).check());
      Await.result(vertx.close());
      assertThat(FencepostException.is(refused, FailureKind.SCHEMA_MISMATCH)).isTrue();
      assertThat(refused).hasMessageContaining("fencepost migrate -c FILE --rebase");
      Ran plain = migrate(after.uri(), 4);
      assertThat(plain.code()).isEqualTo(2);
      assertThat(plain.err()).contains("--rebase");

      assertThat(migrate(after.uri(), 4, "--rebase", "--dry-run").out())
          .contains("lock table \"fencepost\".outbox");
      Ran rebased = migrate(after.uri(), 4, "--rebase");
      assertThat(rebased.code()).as(rebased.err()).isZero();
      assertThat(rebased.out()).contains("laid anew");
      assertThat(migrate(after.uri(), 4, "--rebase").out()).contains("nothing was laid anew");
      goesOn(after, 4);
    }
  }

  @Test
  void anotherNumberOfLanesLosesNothing() throws Exception {
    Outbox outbox = new Outbox(TestServers.postgres().newDatabase());
    Databases.migrate(outbox.uri(), RELAY);
    halfPublished(outbox);
    Ran refused = migrate(outbox.uri(), 7);
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains("--rebase");
    Ran relaid = migrate(outbox.uri(), 7, "--rebase");
    assertThat(relaid.code()).as(relaid.err()).isZero();
    assertThat(outbox.strings("select lane from fencepost.relay_lanes")).hasSize(7);
    goesOn(outbox, 7);
  }

  /** A relay that still runs loses its lanes, and no row. */
  @Test
  void aRelayThatStillRunsLosesItsLanesAndNoRow() throws Exception {
    Outbox outbox = new Outbox(TestServers.postgres().newDatabase());
    Databases.migrate(outbox.uri(), RELAY);
    try (RelayProcess process = relay(outbox.uri(), 4)) {
      outbox.insertMany("", "q", 10, 1, 200);
      Await.until("200 rows", () -> arrivals.all.size() == 200);
      assertThat(migrate(outbox.uri(), 5, "--rebase").code()).isZero();
      outbox.insertMany("", "q", 10, 201, 400);
      try (RelayProcess fresh = relay(outbox.uri(), 5)) {
        Await.until(
            "all",
            () ->
                new HashSet<>(arrived())
                    .containsAll(IntStream.rangeClosed(1, 400).boxed().toList()));
        // What arrived need not have been checkpointed yet: those 200 at most come again.
        assertThat(arrived()).as("but for its window, none twice").hasSizeLessThanOrEqualTo(600);
        Await.until("both have lanes", () -> process.lanes() > 0 && fresh.lanes() > 0);
        assertThat(outbox.number("select min(fence) from fencepost.relay_leases")).isGreaterThan(2);
      }
    }
  }
}
