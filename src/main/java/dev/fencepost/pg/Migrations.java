package dev.fencepost.pg;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationInfoService;
import org.flywaydb.core.api.MigrationState;
import org.jspecify.annotations.Nullable;

/**
 * Creates and upgrades the schema ({@code db/migration} on the class path), with its own history
 * table in it. Flyway works over JDBC and blocks: all of it runs on a worker thread.
 *
 * <p>The migrations read the placeholders <code>${schema}</code> (quoted), <code>${lanes}</code>
 * and <code>${slotSeconds}</code>.
 */
public final class Migrations {

  private static final String HISTORY = "schema_history";

  /** Slots of the outbox's ring that retention fills; two more are being filled and emptied. */
  private static final int RETENTION_SLOTS = 6;

  private final Vertx vertx;
  private final FencepostConfig config;
  private final JdbcSource source;
  private final LockWaits waits;

  public Migrations(Vertx vertx, FencepostConfig config) {
    this(vertx, config, LockWaits.USUAL);
  }

  Migrations(Vertx vertx, FencepostConfig config, LockWaits waits) {
    this.vertx = vertx;
    this.config = config;
    this.source = new JdbcSource(config.database().uris());
    this.waits = waits;
  }

  /**
   * @param applied versions, in order
   * @param version the schema's version now
   * @param retained whether another retention was put in force
   * @param rebased whether the outbox was laid anew
   */
  public record Applied(List<String> applied, String version, boolean retained, boolean rebased) {}

  /**
   * Brings the schema up to date and completes with what was done. Several at once are safe: one
   * works, the others wait and find nothing left.
   *
   * @param rebase whether to lay the outbox anew where it comes from another cluster or has another
   *     number of lanes
   * @return fails with a {@link FencepostException}
   */
  public Future<Applied> migrate(boolean rebase) {
    return blocking(
        () -> {
          try (Connection lock = lock()) {
            List<String> versions = migrated(lock);
            SchemaLayout layout = layout();
            boolean retained = run(lock, layout.retention(lock));
            boolean rebased = rebase && run(lock, layout.rebase(lock));
            layout.check(lock);
            String version = String.valueOf(current(flyway(lock).info()));
            return new Applied(versions, version, retained, rebased);
          }
        });
  }

  /** An attempt that had to give way keeps the versions before the one that did. */
  private List<String> migrated(Connection lock) throws SQLException {
    Flyway flyway = flyway(lock);
    List<String> versions =
        Arrays.stream(flyway.info().pending()).map(info -> info.getVersion().toString()).toList();
    waits.run(lock, schema(), flyway::migrate);
    return versions;
  }

  /** Without laying the outbox anew. */
  public Future<Applied> migrate() {
    return migrate(false);
  }

  /** What {@link #migrate()} would do. */
  public Future<String> pending() {
    return pending(false);
  }

  /**
   * The SQL of what {@link #migrate} would do, with its placeholders filled; empty when nothing.
   */
  public Future<String> pending(boolean rebase) {
    return blocking(
        () -> {
          try (Connection connection = source.open()) {
            List<String> parts = new ArrayList<>();
            for (MigrationInfo info : flyway(connection).info().pending()) {
              parts.add("-- " + info.getScript() + "\n" + filled(info.getScript()));
            }
            if (!parts.isEmpty() && !schemaExists(connection)) {
              parts.add(0, "create schema " + schema() + ";\n");
            }
            SchemaLayout layout = layout();
            if (layout.laid(connection)) { // migrations lay it as the configuration says
              transaction("relay.retention", layout.retention(connection), parts);
              transaction("re-base", rebase ? layout.rebase(connection) : null, parts);
            }
            return String.join("\n", parts);
          }
        });
  }

  private static void transaction(String title, @Nullable String sql, List<String> parts) {
    if (sql != null) {
      parts.addAll(List.of("-- " + title + "\nbegin;", sql, "commit;"));
    }
  }

  /** In one transaction; false for none. */
  private boolean run(Connection connection, @Nullable String sql) throws SQLException {
    return sql != null && waits.run(connection, schema(), () -> inTransaction(connection, sql));
  }

  private static boolean inTransaction(Connection connection, String sql) throws SQLException {
    boolean before = connection.getAutoCommit();
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
      connection.commit();
      return true;
    } catch (SQLException e) {
      connection.rollback();
      throw e;
    } finally {
      connection.setAutoCommit(before);
    }
  }

  /**
   * What {@link #grant} would run.
   *
   * @param role as it is called in the database, unquoted
   */
  public List<String> grants(String role) {
    return ApplicationGrants.statements(schema(), role);
  }

  /**
   * Gives an application's role what it needs to write events, and nothing else: a role that could
   * write {@code tx} or {@code seq} itself could break the order of everything silently.
   */
  public Future<Void> grant(String role) {
    return blocking(
            () -> {
              try (Connection connection = source.open();
                  Statement statement = connection.createStatement()) {
                for (String grant : grants(role)) {
                  statement.execute(grant);
                }
                return true;
              }
            })
        .mapEmpty();
  }

  /**
   * Whether this program can work with the schema as it is.
   *
   * @return fails with SCHEMA_MISSING when it is missing or older, naming the command; with
   *     SCHEMA_MISMATCH when it is newer or was changed by hand
   */
  public Future<Void> check() {
    return blocking(
            () -> {
              try (Connection connection = source.open()) {
                check(connection);
                return true;
              }
            })
        .mapEmpty();
  }

  private void check(Connection connection) throws SQLException {
    if (!schemaExists(connection)) {
      throw missing("the schema " + schema() + " does not exist");
    }
    MigrationInfoService info = flyway(connection).info();
    MigrationInfo current = info.current();
    if (current == null) {
      throw missing("the schema " + schema() + " is empty");
    }
    if (Arrays.stream(info.all()).anyMatch(m -> m.getState() == MigrationState.FUTURE_SUCCESS)) {
      throw new FencepostException(
          FailureKind.SCHEMA_MISMATCH,
          "the schema "
              + schema()
              + " has version "
              + current.getVersion()
              + ", which is newer than this program: use a newer program");
    }
    if (info.pending().length > 0) {
      throw missing(
          "the schema "
              + schema()
              + " has version "
              + current.getVersion()
              + ", older than this program needs");
    }
    layout().check(connection);
  }

  private SchemaLayout layout() {
    return new SchemaLayout(config, slotSeconds());
  }

  private long slotSeconds() {
    return Math.max(1, config.relay().retention().toSeconds() / RETENTION_SLOTS);
  }

  private static FencepostException missing(String what) {
    return new FencepostException(
        FailureKind.SCHEMA_MISSING, what + ": run `fencepost migrate -c FILE`");
  }

  private String schema() {
    return PgDatabase.quote(config.database().schema());
  }

  private Map<String, String> placeholders() {
    return Map.of(
        "schema", schema(),
        "lanes", Integer.toString(config.relay().lanes()),
        "slotSeconds", Long.toString(slotSeconds()));
  }

  /** Each needs connections of its own beside the one given, which names the host. */
  private Flyway flyway(Connection opened) throws SQLException {
    return Flyway.configure(Migrations.class.getClassLoader())
        .dataSource(source.dataSource(opened))
        .schemas(config.database().schema())
        .defaultSchema(config.database().schema())
        .createSchemas(true)
        .table(HISTORY)
        .locations("classpath:db/migration")
        .placeholders(placeholders())
        .initSql("set lock_timeout = '" + LockWaits.AMONG_OURS + "'")
        .cleanDisabled(true)
        .load();
  }

  private String filled(String script) throws java.io.IOException {
    String path = "db/migration/" + script;
    try (var in = Migrations.class.getClassLoader().getResourceAsStream(path)) {
      if (in == null) {
        throw new FencepostException(FailureKind.INTERNAL, path + " is not on the class path");
      }
      String sql = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
      for (Map.Entry<String, String> each : placeholders().entrySet()) {
        sql = sql.replace("${" + each.getKey() + "}", each.getValue());
      }
      return sql;
    }
  }

  /** Flyway's own lock begins after it has created the schema: two first starts would collide. */
  private Connection lock() throws SQLException {
    if (source.pooled()) {
      throw new FencepostException(
          FailureKind.CONFIGURATION,
          "database.uris: migrate holds a lock of its session, which a pooler (pgbouncer=true) does"
              + " not keep: name the server itself");
    }
    Connection connection = source.open();
    try (PreparedStatement statement =
        connection.prepareStatement("select pg_advisory_lock(hashtextextended(?, 0))")) {
      statement.setString(1, "fencepost migrate " + config.database().schema());
      statement.execute();
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  private boolean schemaExists(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("select 1 from pg_namespace where nspname = ?")) {
      statement.setString(1, config.database().schema());
      return statement.executeQuery().next();
    }
  }

  private static Object current(MigrationInfoService info) {
    MigrationInfo current = info.current();
    return current == null ? "none" : current.getVersion();
  }

  private interface Work<T> {
    T run() throws SQLException, java.io.IOException;
  }

  private <T> Future<T> blocking(Work<T> work) {
    return vertx.executeBlocking(
        () -> {
          try {
            return work.run();
          } catch (FlywayException | SQLException e) {
            throw translated(e);
          }
        },
        false);
  }

  private static FencepostException translated(Exception failure) {
    if (PgErrors.sqlState(failure) != null) {
      return PgErrors.translate(failure);
    }
    return new FencepostException(
        FailureKind.SCHEMA_MISMATCH, String.valueOf(failure.getMessage()), failure);
  }
}
