package dev.fencepost.handlers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlEffectIT {
  private static String uri;
  private static Pool pool;
  private static Handlers handlers;

  @BeforeAll
  static void open() {
    uri = TestServers.postgres().newDatabase();
    PgConnectOptions options = PgConnectOptions.fromUri(uri).setCachePreparedStatements(true);
    pool =
        PgBuilder.pool()
            .connectingTo(options)
            .with(new PoolOptions().setMaxSize(2))
            .using(HttpFixture.VERTX)
            .build();
    handlers = new Handlers(HttpFixture.VERTX);
  }

  @AfterAll
  static void close() {
    Await.result(pool.close());
    Await.result(handlers.close());
  }

  @BeforeEach
  void table() {
    PostgresServer.execute(
        uri,
        "drop table if exists audit",
        "create table audit(event_id text primary key, type text, key text, doc jsonb,"
            + " raw bytea, headers jsonb, n int check (n <> 13))");
  }

  @Test
  void everyParameterArrivesWithItsType() {
    byte[] body = "{\"id\": 7, \"name\": \"Zoë ✓\"}".getBytes(StandardCharsets.UTF_8);
    Map<String, Object> headers = new LinkedHashMap<>();
    headers.put("i", 1);
    headers.put("l", 1L << 40);
    headers.put("d", 1.5);
    headers.put("b", true);
    headers.put("s", "x");
    headers.put("none", null);
    headers.put("raw", new byte[] {1, 2});
    headers.put("at", new Date(1_700_000_000_000L));
    headers.put("list", List.of(1, "two"));
    headers.put("table", Map.of("a", 1));

    run(
        "insert into audit values (:event_id, :type, :key, :payload::jsonb, :payload_bytes,"
            + " :headers, (:payload::jsonb->>'id')::int)",
        FakeContext.of("e-1", "").withBody(body).withHeaders(headers));

    Row row = row("select * from audit");
    assertThat(row.getString("event_id")).isEqualTo("e-1");
    assertThat(row.getString("type")).isEqualTo("order.placed");
    assertThat(row.getString("key")).isEqualTo("order-7");
    assertThat(row.getJsonObject("doc").getString("name")).isEqualTo("Zoë ✓");
    assertThat(row.getBuffer("raw")).isEqualTo(Buffer.buffer(body));
    assertThat(row.getInteger("n")).isEqualTo(7);
    assertThat(row.getJsonObject("headers"))
        .isEqualTo(
            new JsonObject(
                """
                {"i":1,"l":1099511627776,"d":1.5,"b":true,"s":"x","none":null,
                 "raw":{"$bytes":"AQI="},"at":{"$timestamp":1700000000},
                 "list":[1,"two"],"table":{"a":1}}
                """));
  }

  @Test
  void aKeyThatIsMissingIsNull() {
    FakeContext context = FakeContext.of("e", "x");
    run(
        "insert into audit(event_id, key) values (:event_id, :key)",
        new FakeContext("e", "t", null, context.body(), Map.of(), Map.of()));
    assertThat(row("select key from audit").getString(0)).isNull();
  }

  @Test
  void quotedTextIsLeftAlone() {
    run(
        "insert into audit(event_id, type, key) values (:event_id, ':type', $q$:key$q$) -- :x",
        FakeContext.of("e", ""));
    Row row = row("select type, key from audit");
    assertThat(row.getString(0)).isEqualTo(":type");
    assertThat(row.getString(1)).isEqualTo(":key");
  }

  @Test
  void manyShareATransactionAndArePipelined() {
    EffectHandler handler = handler("insert into audit(event_id) values (:event_id)");
    Future<?> all =
        inTransaction(
            connection -> {
              List<Future<Receipt>> runs = new ArrayList<>();
              for (int i = 0; i < 500; i++) {
                runs.add(handler.run(FakeContext.of("e-" + i, ""), connection));
              }
              return Future.join(runs);
            });
    Await.result(all);
    assertThat(row("select count(*) from audit").getLong(0)).isEqualTo(500);
  }

  @Test
  void theEffectGoesWithItsTransaction() {
    EffectHandler handler = handler("insert into audit(event_id) values (:event_id)");
    Await.failure(
        inTransaction(
            connection ->
                handler
                    .run(FakeContext.of("e", ""), connection)
                    .compose(done -> Future.failedFuture("the receipt fails"))));
    assertThat(row("select count(*) from audit").getLong(0)).isZero();
  }

  @Test
  void bodiesThatAreNoTextArePermanentBeforeAnythingIsSent() {
    String sql = "insert into audit(event_id, type) values (:event_id, :payload)";
    Throwable latin = failure(sql, FakeContext.of("e", "").withBody(new byte[] {'a', (byte) 0xe4}));
    Throwable nul = failure(sql, FakeContext.of("e", "a\u0000b"));

    assertThat(latin)
        .isInstanceOf(PermanentFailure.class)
        .hasMessage("the body is not UTF-8 text; :payload_bytes takes any body");
    assertThat(nul).isInstanceOf(PermanentFailure.class).hasMessageContaining("NUL");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "insert into audit(event_id, n) values (:event_id, 13) | 23514 | false",
        "insert into audit(event_id, doc) values (:event_id, :payload::jsonb) | 22P02 | false",
        "insert into nowhere values (:event_id) | 42P01 | false",
        "select 1/(length(:event_id) - 1) | 22012 | false",
        "select raise_state('40001', :key) | 40001 | true",
        "select raise_state('40P01', :key) | 40P01 | true",
        "select raise_state('53200', :key) | 53200 | true",
        "select raise_state('55P03', :key) | 55P03 | true",
        "select raise_state('57014', :key) | 57014 | true",
        "select raise_state('08006', :key) | 08006 | true",
        "select raise_state('P0001', :key) | P0001 | false",
      })
  void errorsAreClassedBySqlState(String sql, String state, boolean passes) {
    PostgresServer.execute(
        uri,
        "create or replace function raise_state(state text, k text) returns void language plpgsql"
            + " as $$ begin raise exception 'refused %', k using errcode = state; end $$");
    Throwable failure = failure(sql, FakeContext.of("e", "no json"));

    assertThat(failure)
        .isInstanceOf(passes ? TransientFailure.class : PermanentFailure.class)
        .hasMessageEndingWith("(SQLSTATE " + state + ")")
        .hasMessageNotContaining("(" + state + ")")
        .hasCauseInstanceOf(io.vertx.pgclient.PgException.class);
  }

  @Test
  void aLostConnectionIsTransient() {
    // Sessions of other tests may sleep on this server, too.
    String sleeping =
        " from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
            + " and query like 'insert into audit%'";
    EffectHandler handler =
        handler("insert into audit(event_id) select :event_id from pg_sleep(60)");
    Future<Receipt> run =
        pool.withConnection(connection -> handler.run(FakeContext.of("e", ""), connection));
    Await.until("the statement runs", () -> row("select count(*)" + sleeping).getLong(0) == 1);
    row("select pg_terminate_backend(pid)" + sleeping);

    assertThat(Await.failure(run)).isInstanceOf(TransientFailure.class);
  }

  private static Receipt run(String sql, ActivityContext context) {
    EffectHandler handler = handler(sql);
    return Await.result(inTransaction(connection -> handler.run(context, connection)));
  }

  private static Throwable failure(String sql, ActivityContext context) {
    EffectHandler handler = handler(sql);
    return Await.failure(pool.withConnection(connection -> handler.run(context, connection)));
  }

  private static <T> Future<T> inTransaction(
      java.util.function.Function<SqlConnection, Future<T>> work) {
    return pool.withTransaction(work);
  }

  private static EffectHandler handler(String sql) {
    QueueConfig queue =
        ConfigLoader.parse(
                "queues: {q: {queue: q, activities: {t: {kind: effect, handler: {sql: \""
                    + sql.replace("\"", "\\\"")
                    + "\"}}}}}",
                Map.of())
            .queues()
            .get("q");
    return ((BoundHandler.Effect) handlers.bind(queue, queue.activities().get("t"))).handler();
  }

  private static Row row(String sql) {
    RowSet<Row> rows = Await.result(pool.query(sql).execute());
    return rows.iterator().next();
  }
}
