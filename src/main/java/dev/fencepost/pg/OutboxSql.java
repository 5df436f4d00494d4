package dev.fencepost.pg;

/** The statements that read the outbox; the rule behind them is in docs/relay.md. */
final class OutboxSql {
  private OutboxSql() {}

  /** Reads no table that grows and assigns no transaction id. */
  static final String POLL =
      """
      select (select life from ${schema}.relay_life),
        case when s.is_called then s.last_value else 0 end,
        pg_current_snapshot()::text,
        exists (select 1 from ${schema}.parked_requests where done_at is null)
      from ${schema}.outbox_seq s
      """;

  static final String BEGIN_LIFE =
      "insert into ${schema}.relay_life default values on conflict do nothing";

  /** The sequence's last value, read before there is a transaction id: what assigns it needs it. */
  private static final String FLOOR =
      """
      with at as materialized (
        select case when is_called then last_value else 0 end as floor from ${schema}.outbox_seq)""";

  private static final String MARKED =
      """
      select (select life from ${schema}.relay_life) as life,
        at.floor,
        exists (select 1 from ${schema}.parked_requests where done_at is null) as requests,
        %s as appended,
        case when at.floor >= 0 then pg_current_xact_id()::text end,
        set_config('synchronous_commit', 'off', true)
      from at
      """;

  /**
   * pg_current_xact_id() is called for itself: an insert that a fence filters to nothing would
   * assign no id. The lock needs what was read of the sequence, too. May be committed
   * asynchronously: losing it only repeats messages.
   */
  static final String MARK =
      FLOOR
          + """
      ,
      given as (
        select * from unnest($3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
          $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::bigint[])
          as g(lane, fence, n, before, last, floor, floors, cur, next_floor, position)),
      held as materialized (
        select g.* from given g join ${schema}.relay_leases l using (lane)
        where l.owner = $1 and l.fence = g.fence and (select at.floor from at) >= 0
        order by lane for key share of l),
      appended as (
        insert into ${schema}.relay_checkpoints
          (lane, fence, n, last, floor, floors, cur, next_floor, position)
        select lane, fence, n, last::pg_snapshot, floor, floors::bigint[], cur::pg_snapshot,
          next_floor, position
        from held h
        where exists (select 1 from ${schema}.relay_life where life = $2)
          and (h.before, h.n - 1) = (
            select c.fence, c.n from ${schema}.relay_checkpoints c
            where c.lane = h.lane order by c.n desc limit 1)
        returning lane)
      """
          + MARKED.formatted("array(select lane from appended)");

  /** The same when no checkpoint is due, as in most turns of a relay that has little to do. */
  static final String MARK_ALONE = FLOOR + MARKED.formatted("'{}'::smallint[]");

  /** Whole seconds; null for a time that is none. */
  static final String WRITTEN =
      "case when isfinite(created_at) then floor(extract(epoch from created_at))::bigint end";

  private static final String COLUMNS =
      """
      seq, tx, event_id, exchange, routing_key, type, key, payload, content_type, headers, properties,
        written""";

  private static final String RAW =
      """
      seq, tx, event_id, exchange, routing_key, type, key, payload, content_type,
        nullif(headers, '{}')::text as headers, nullif(properties, '{}')::text as properties,
      """
          + WRITTEN
          + " as written";

  /** What the relay counts as a row's size, or less: characters, whatever the encoding. */
  static final String SIZE =
      "octet_length(payload) + coalesce(length(headers), 2) + coalesce(length(properties), 2)";

  /** Cuts a page where its rows exceed the budget; the row that does so is the last. */
  private static String cut(String budget, String page) {
    return "select "
        + COLUMNS
        + """
         from (select *, sum(size) over (order by seq rows unbounded preceding) as upto
            from (select *, %s as size from (%s) p) s) q
        where upto - size < %s"""
            .formatted(SIZE, page, budget);
  }

  /**
   * First pages of several lanes, in the statement's own snapshot, which is the batch's: visibility
   * needs no further condition. One row at least: the snapshot.
   */
  static final String OPEN =
      """
      select s.life, s.cur, l.lane, o.* from
        (select (select life from ${schema}.relay_life where one) as life,
          pg_current_snapshot()::text as cur) s
        cross join unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::text[], $5::integer[],
          $6::bigint[]) as l(lane, above, xmax, xip, rows, budget)
        left join lateral (
      """
          + cut(
              "l.budget",
              "select "
                  + RAW
                  + """
                   from ${schema}.outbox x
                  where x.lane = l.lane and x.seq > l.above
                    and (x.tx >= l.xmax or x.tx = any(l.xip::bigint[]))
                  order by x.seq limit l.rows""")
          + ") o on true order by l.lane, o.seq";

  /**
   * A later page: what the batch's snapshot sees and the one before did not. All of it by index:
   * one scan that had to be forbidden would look so dear that the rest no longer mattered to the
   * planner.
   */
  static final String PAGE =
      cut(
              "$8",
              "select "
                  + RAW
                  + """
                   from ${schema}.outbox
                  where lane = $1 and seq > $2 and seq <= $10 and (tx >= $3 or tx = any($4))
                    and tx < $5 and tx <> all($6)
                    and exists (select 1 from ${schema}.relay_life where one and life = $9)
                  order by seq limit $7""")
          + " order by seq";

  /** By the index of transactions and hashing, whatever the planner has heard of the table. */
  static final String BY_TX =
      """
      select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
        set_config('enable_indexonlyscan', 'off', true), set_config('enable_sort', 'off', true)
      """;

  /** Where rows of these transactions lie, in all lanes, roughly. One row at least: the life. */
  static final String LATE =
      """
      select s.life, f.tx, f.lane, f.above, f.up_to from
        (select (select life from ${schema}.relay_life) as life) s left join (
          select tx, lane, min(seq) - 1 as above, max(seq) as up_to from ${schema}.outbox
          where tx = any($1) group by tx, lane, seq / 8192) f on true
      """;
}
