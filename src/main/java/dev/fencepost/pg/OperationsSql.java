package dev.fencepost.pg;

import dev.fencepost.model.ActivityState;
import dev.fencepost.operations.BoundedCount;
import org.jspecify.annotations.Nullable;

/**
 * What operators look at. No statement counts without a bound: {@code sum(1)} over at most {@link
 * BoundedCount#BOUND} rows of an index.
 */
final class OperationsSql {
  private static final int PREVIEW = 4096;
  private static final String SOME = " limit " + (BoundedCount.BOUND + 1) + ") found";

  private OperationsSql() {}

  static final String LANES = "select * from ${schema}.relay_lanes order by lane";

  /** Consumers in use, by jumping from one to the next. */
  static final String CONSUMERS =
      """
      with recursive known as (
        (select min(consumer) as consumer from ${schema}.activity)
        union all
        select (select min(a.consumer) from ${schema}.activity a where a.consumer > k.consumer)
        from known k where k.consumer is not null),
      dead as (
        (select min(consumer) as consumer from ${schema}.dead_letter where state = 'open')
        union all
        select (select min(d.consumer) from ${schema}.dead_letter d
                where d.state = 'open' and d.consumer > k.consumer)
        from dead k where k.consumer is not null)
      select consumer from known where consumer is not null
      union select consumer from dead where consumer is not null
      """;

  static final String COUNTS =
      "select c.consumer,"
          + count(
              "running",
              "select 1 from (select distinct batch from ${schema}.claim_batch b"
                  + " where b.consumer = c.consumer) b join ${schema}.activity a"
                  + " on a.consumer = c.consumer and a.batch = b.batch and a.state = 'running'")
          + ","
          + count("reviews", waiting("manual_review"))
          + ","
          + count("blocked", waiting("blocked"))
          + ","
          + count("unresolved", waiting("unresolved"))
          + ","
          + count(
              "dead_letters",
              "select 1 from ${schema}.dead_letter d where d.consumer = c.consumer"
                  + " and d.state = 'open'")
          + ", (select (extract(epoch from now() - min(lease_until)) * 1000)::bigint from ("
          + "select a.lease_until from (select distinct batch from ${schema}.claim_batch b"
          + " where b.consumer = c.consumer and b.until <= now()) b join ${schema}.activity a"
          + " on a.consumer = c.consumer and a.batch = b.batch and a.state = 'running'"
          + " and a.lease_until <= now()"
          + SOME
          + ") as overdue"
          + ", s.scheduled, s.due from unnest($1::text[]) c(consumer),"
          + " lateral (select coalesce(sum(1), 0)::bigint as scheduled,"
          + " coalesce(sum(1) filter (where next_attempt_at <= now()), 0)::bigint as due"
          + " from (select next_attempt_at from ${schema}.activity a where a.consumer = c.consumer"
          + " and a.next_attempt_at is not null and a.state = 'retry_scheduled'"
          + SOME
          + ") s order by c.consumer";

  private static String count(String name, String rows) {
    return " (select coalesce(sum(1), 0)::bigint from (" + rows + SOME + ") as " + name;
  }

  private static String waiting(String state) {
    return "select 1 from ${schema}.activity a where a.consumer = c.consumer and a.waits = '"
        + state
        + "'";
  }

  /** Each state by the index that holds it; completed ones and all of them by the primary key. */
  static String activities(@Nullable ActivityState state) {
    String from = "select v.* from " + source(state);
    return from + " ${where} order by v.consumer, v.event_id limit ";
  }

  private static String source(@Nullable ActivityState state) {
    String view = "${schema}.activities v";
    if (state == null) {
      return view;
    }
    String on = " on v.consumer = s.consumer and v.event_id = s.event_id and v.state = '";
    String found =
        switch (state) {
          case RUNNING ->
              "select a.consumer, a.event_id from (select distinct consumer, batch from"
                  + " ${schema}.claim_batch) b join ${schema}.activity a on a.consumer = b.consumer"
                  + " and a.batch = b.batch and a.state = 'running'";
          case RETRY_SCHEDULED ->
              "select consumer, event_id from ${schema}.activity where next_attempt_at is not null"
                  + " union select consumer, event_id from ${schema}.activity"
                  + " where awaiting_message";
          case BLOCKED, MANUAL_REVIEW, UNRESOLVED ->
              "select consumer, event_id from ${schema}.activity where waits = '"
                  + state.wire()
                  + "'";
          case DEAD -> "select distinct consumer, event_id from ${schema}.dead_letter";
          case COMPLETED -> "";
        };
    return found.isEmpty() ? view : "(" + found + ") s join " + view + on + state.wire() + "'";
  }

  static final String ACTIVITY =
      "select * from ${schema}.activities where consumer = $1 and event_id = $2";
  static final String ATTEMPTS =
      "select * from ${schema}.attempts where consumer = $1 and event_id = $2"
          + " order by started_at, fence";
  static final String RECEIPTS =
      "select * from ${schema}.receipts where consumer = $1 and event_id = $2 order by recorded_at";

  /** Without a consumer: what was done with its row of the outbox. */
  static final String AUDIT =
      "select * from ${schema}.audit_log where (consumer = $1 or consumer is null) and event_id = $2"
          + " order by at, id";

  static final String AUDIT_LOG =
      "select * from ${schema}.audit_log ${where} order by at desc, id desc limit ";

  static final String DEAD_LETTERS_OF_EVENT =
      letters("where consumer = $1 and event_id = $2 order by id");

  static final String DEAD_LETTERS = letters("${where} order by id desc limit ");
  static final String DEAD_LETTER = "select * from ${schema}.dead_letters where id = $1";
  static final String NEWEST_DEAD_LETTER = "select max(id) as id from ${schema}.dead_letters";
  static final String DEAD_LETTERS_BETWEEN = plain("${where} order by id limit ");
  static final String DEAD_LETTERS_BY_ID = plain("where id = any($1) order by id");

  /** With a preview of the body. */
  private static String letters(String rest) {
    return "select id, consumer, event_id, generation, type, reason, attempts, error_class,"
        + " error_message, error_cause, exchange, routing_key, headers, properties,"
        + " substring(body for "
        + PREVIEW
        + ") as body, octet_length(body) as body_size, octet_length(body) > "
        + PREVIEW
        + " as body_truncated, dead_at, state from ${schema}.dead_letters "
        + rest;
  }

  private static String plain(String rest) {
    return "select id, consumer, event_id, generation, type, reason, attempts, error_class,"
        + " error_message, dead_at, state from ${schema}.dead_letters "
        + rest;
  }

  static final String PARKED = "select * from ${schema}.parked ${where} order by lane, seq limit ";
  static final String PARKED_OF_KEY =
      "select * from ${schema}.parked where key = $1 order by seq limit $2";
  static final String PARKED_OF_SEQ =
      "select p.* from generate_series(0, (select lanes - 1 from ${schema}.relay_layout)) l(lane),"
          + " lateral (select * from ${schema}.parked where lane = l.lane and seq = $1) p";
}
