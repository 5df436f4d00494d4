package dev.fencepost.pg;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A fresh database with the whole schema, and the stores on it. */
final class WorkerSchema implements AutoCloseable {
  private final String uri;
  private final Vertx vertx = Vertx.vertx();
  private final PgDatabase database;
  private final PgDatabase effects;
  private final PgActivityStore store;

  private WorkerSchema(String uri, boolean migrates) {
    this.uri = uri;
    FencepostConfig config =
        ConfigLoader.parse("database: {uris: [\"" + uri + "\"], pool-size: 4}", Map.of());
    if (migrates) {
      Await.result(new Migrations(vertx, config).migrate());
    }
    database = PgDatabase.open(vertx, config.database(), "test");
    effects = PgDatabase.open(vertx, config.database(), "test-effects");
    store = new PgActivityStore(database, effects, Pulse.Ages.NONE);
  }

  static WorkerSchema open() {
    return new WorkerSchema(
        TestServers.postgres().newDatabase("worker's", uri -> migrated(uri).close()), false);
  }

  /** The stores on this database, whose schema is brought up to date. */
  static WorkerSchema migrated(String uri) {
    return new WorkerSchema(uri, true);
  }

  /** Stores of their own on the same database, connected with these parameters. */
  WorkerSchema again(String parameters) {
    return new WorkerSchema(uri + parameters, false);
  }

  /** The same by another way to it. */
  WorkerSchema by(String otherUri) {
    return new WorkerSchema(otherUri, false);
  }

  String uri() {
    return uri;
  }

  PgDatabase database() {
    return database;
  }

  PgActivityStore store() {
    return store;
  }

  /** Moves everything of a consumer into the past. */
  void elapse(String consumer, Duration time) {
    String past = " - " + time.toMillis() + " * interval '1 millisecond'";
    long micros = time.toMillis() * 1000;
    long batches = micros * 1024;
    StringBuilder set = new StringBuilder("batch = batch - " + batches);
    for (String column :
        List.of(
            "lease_until",
            "next_attempt_at",
            "first_seen_at",
            "finished_at",
            "started_at",
            "ended_at",
            "receipt_at",
            "progress_at")) {
      set.append(", ").append(column).append(" = ").append(column).append(past);
    }
    String of = " where consumer = '" + consumer + "'";
    PostgresServer.execute(
        uri,
        "update fencepost.activity set " + set + of,
        "update fencepost.claim_batch set batch = batch - "
            + batches
            + ", until = until"
            + past
            + of,
        "update fencepost.dead_letter set dead_at = dead_at"
            + past
            + ", copy_due = copy_due"
            + past
            + of,
        "update fencepost.start_window set second = second - " + time.toSeconds() + of);
  }

  @Override
  public void close() {
    Await.result(database.close());
    Await.result(effects.close());
    Await.result(vertx.close());
  }
}
