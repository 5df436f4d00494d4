package dev.fencepost.pg;

import dev.fencepost.flow.Attempt;
import dev.fencepost.relay.Doorbell;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgNotification;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * LISTEN on a connection of its own. It believes that it can be heard only once it has heard
 * itself: through a pooler in transaction mode, and where two-phase commit keeps writers from
 * ringing, polls do.
 */
public final class PgDoorbell implements Doorbell {
  private static final Logger LOG = LoggerFactory.getLogger(PgDoorbell.class);
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final long AGAIN_MILLIS = 5_000;
  private static final String TRIAL = "trial-";

  private final Vertx vertx;
  private final PgDatabase database;
  private final String channel;
  private final String self = TRIAL + UUID.randomUUID();
  private @Nullable SqlConnection connection;
  private boolean heard;
  private boolean closed;
  private boolean waiting;

  public PgDoorbell(Vertx vertx, PgDatabase database) {
    this.vertx = vertx;
    this.database = database;
    String quoted = database.schema();
    this.channel = quoted.substring(1, quoted.length() - 1).replace("\"\"", "\"") + "_outbox";
  }

  @Override
  public void listen(Runnable ring) {
    if (closed) {
      return;
    }
    if (database.pooled()) {
      LOG.info(
          "behind a pooler (pgbouncer=true): no doorbell, an idle relay looks every"
              + " relay.poll.max; jit and synchronous_commit are what the role has");
      return;
    }
    Attempt.of(() -> database.dedicated("doorbell"))
        .compose(c -> database.on(c, DEADLINE, on -> open(on, ring)).onFailure(e -> c.close()))
        .onFailure(
            e -> {
              LOG.debug("doorbell: {}", e.getMessage());
              again(ring);
            });
  }

  private Future<Void> open(SqlConnection opened, Runnable ring) {
    ((PgConnection) opened).notificationHandler(note -> notified(note, ring));
    opened.closeHandler(
        v -> {
          connection = null;
          heard = false;
          again(ring);
        });
    connection = opened;
    return opened
        .query("listen " + PgDatabase.quote(channel))
        .execute()
        .compose(
            v -> opened.preparedQuery("select pg_notify($1, $2)").execute(Tuple.of(channel, self)))
        .mapEmpty();
  }

  /** Once, however many tell of the same loss: each would listen on a connection of its own. */
  private void again(Runnable ring) {
    if (!closed && !waiting) {
      waiting = true;
      vertx.setTimer(
          AGAIN_MILLIS,
          id -> {
            waiting = false;
            listen(ring);
          });
    }
  }

  private void notified(PgNotification note, Runnable ring) {
    String payload = note.getPayload();
    if (payload.equals(self)) {
      heard = true;
    } else if (!payload.startsWith(TRIAL)) {
      ring.run();
      rung(payload);
    }
  }

  /** Answered up to this number: who went to sleep later is still to be rung for. */
  private void rung(String number) {
    database
        .with(
            DEADLINE,
            c ->
                c.preparedQuery(database.sql(RelayUpkeepSql.RUNG))
                    .execute(Tuple.of(Long.valueOf(number))))
        .onFailure(e -> LOG.debug("doorbell: {}", e.getMessage()));
  }

  @Override
  public Future<Boolean> asleep() {
    if (!heard) {
      return Future.succeededFuture(false);
    }
    return database
        .with(DEADLINE, c -> c.preparedQuery(database.sql(RelayUpkeepSql.ASLEEP)).execute())
        .map(v -> true);
  }

  @Override
  public Future<Void> close() {
    closed = true;
    SqlConnection open = connection;
    connection = null;
    return open == null ? Future.succeededFuture() : open.close();
  }
}
