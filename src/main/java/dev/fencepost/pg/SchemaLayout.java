package dev.fencepost.pg;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * The outbox as it was laid: lanes and the seconds of a slot are part of its columns, and the
 * snapshot cursor is only safe while {@code tx} is evaluated before {@code seq} and the sequence
 * caches nothing.
 */
final class SchemaLayout {

  private static final String READ =
      """
      select l.lanes, l.slot_seconds,
             (select a.attnum from pg_attribute a
               where a.attrelid = '${schema}.outbox'::regclass and a.attname = 'tx')
               < (select a.attnum from pg_attribute a
                   where a.attrelid = '${schema}.outbox'::regclass and a.attname = 'seq'),
             (select s.seqcache from pg_sequence s
               where s.seqrelid = '${schema}.outbox_seq'::regclass) = 1,
             l.system_identifier = (select system_identifier from pg_control_system())
               and not exists (
                 select 1 from ${schema}.relay_checkpoints c
                 where pg_snapshot_xmax(coalesce(c.cur, c.last)) > pg_snapshot_xmax(pg_current_snapshot()))
      from ${schema}.relay_layout l
      """;

  private static final String REBASE = "`fencepost migrate -c FILE --rebase`";

  /**
   * Rows that are there keep the slot they are in. Rows are inserted into the whole table: of its
   * partitions no default is asked, and none need be locked.
   */
  private static final String RETENTION =
      """
      set local lock_timeout = '${lockTimeout}';
      alter table only ${schema}.outbox alter column slot set default
        (((extract(epoch from clock_timestamp())::bigint / ${slotSeconds}) % 8)::smallint);
      update ${schema}.relay_layout set slot_seconds = ${slotSeconds};
      """;

  private static final String LAID = "select to_regclass('${schema}.relay_layout') is not null";

  private static final String DIFFERS =
      "select 1 from ${schema}.relay_layout where slot_seconds <> ${slotSeconds}";

  private final String schema;
  private final int lanes;
  private final long slotSeconds;

  SchemaLayout(FencepostConfig config, long slotSeconds) {
    this.schema = PgDatabase.quote(config.database().schema());
    this.lanes = config.relay().lanes();
    this.slotSeconds = slotSeconds;
  }

  /**
   * @throws FencepostException of kind SCHEMA_MISMATCH, with the remedy
   */
  void check(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql(READ))) {
      if (!row.next() || !row.getBoolean(3) || !row.getBoolean(4)) {
        throw mismatch(
            "the outbox was changed by hand: tx must stand before seq, and the sequence must cache"
                + " nothing");
      }
      if (!row.getBoolean(5)) {
        throw mismatch(
            "the outbox comes from another database cluster (a dump was restored, or pg_upgrade was"
                + " used): what is published is not known by its transaction ids here. Stop every"
                + " relay of the schema and run "
                + REBASE);
      }
      if (row.getInt(1) != lanes) {
        throw mismatch(
            "relay.lanes is "
                + lanes
                + ", but the schema was laid with "
                + row.getInt(1)
                + ": write relay.lanes: "
                + row.getInt(1)
                + ", or lay it anew with "
                + REBASE);
      }
      if (row.getLong(2) != slotSeconds) {
        throw mismatch(
            "relay.retention is not that of the schema (slots of "
                + slotSeconds
                + " s against "
                + row.getLong(2)
                + " s): run `fencepost migrate -c FILE`");
      }
    }
  }

  /** Whether there is an outbox, of whatever version. */
  boolean laid(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql(LAID))) {
      return row.next() && row.getBoolean(1);
    }
  }

  /**
   * The SQL that makes retention that of the configuration, to be run in one transaction; null when
   * it is.
   *
   * @param connection on which the outbox is laid
   */
  @Nullable String retention(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql(DIFFERS))) {
      return rows.next() ? sql(RETENTION) : null;
    }
  }

  /**
   * The SQL that lays the outbox anew, or null when it lies as it should.
   *
   * @param connection on which the outbox is laid, by whatever version: what is read is there since
   *     the first
   */
  @Nullable String rebase(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql(READ))) {
      if (!row.next()) {
        return null;
      }
      boolean relaid = row.getInt(1) != lanes;
      return relaid || !row.getBoolean(5) ? Rebase.sql(schema, lanes, relaid) : null;
    }
  }

  private String sql(String text) {
    return text.replace("${schema}", schema)
        .replace("${lockTimeout}", LockWaits.AMONG_WRITERS)
        .replace("${slotSeconds}", Long.toString(slotSeconds));
  }

  private static FencepostException mismatch(String what) {
    return new FencepostException(FailureKind.SCHEMA_MISMATCH, what);
  }
}
