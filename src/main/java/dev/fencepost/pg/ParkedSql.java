package dev.fencepost.pg;

/** The statements of parked rows. Only the first row of a key has a time for its next attempt. */
final class ParkedSql {
  private ParkedSql() {}

  /** Held until the end of the transaction: no other owner comes in between. */
  static final String GUARD =
      """
      select 1 from ${schema}.relay_leases where lane = $1 and owner = $2 and fence = $3 for key share
      """;

  /** Whether the newest checkpoint of a lane has passed a row: nobody will read it again. */
  private static final String PASSED =
      """
      (select pg_visible_in_snapshot(g.tx::text::xid8, c.last)
          or coalesce(g.seq <= c.position and pg_visible_in_snapshot(g.tx::text::xid8, c.cur), false)
        from ${schema}.relay_checkpoints c where c.lane = g.lane order by c.n desc limit 1)""";

  /** Takes rows away. One that the lane's checkpoint has not passed yet is remembered. */
  private static String gone(String which) {
    return """
        with gone as (
          delete from ${schema}.parked_rows where lane = $1 and %s
          returning lane, seq, tx, key, event_id),
        remembered as (
          insert into ${schema}.parked_gone (lane, seq, tx)
          select lane, seq, tx from gone g where not %s on conflict do nothing)
        select key, event_id, null::text, null::text from gone
        """
        .formatted(which, PASSED);
  }

  static final String FORGET_GONE =
      "delete from ${schema}.parked_gone g where lane = any($1) and " + PASSED;

  /** Those that wait longest first: where more fall due than can be tried, each has its turn. */
  static final String DUE =
      """
      with heads as (
        select seq, key, next_attempt_at as due from ${schema}.parked_rows
        where lane = $1 and next_attempt_at <= now() order by next_attempt_at, seq limit $2),
      chains as (
        select p.*, h.due from heads h cross join lateral (
          select * from ${schema}.parked_rows p
          where p.key = h.key and p.lane = $1 and p.seq >= h.seq
            and (p.seq = h.seq or p.next_attempt_at is null)
          order by p.seq limit 100) p
        union all
        select p.*, h.due from heads h join ${schema}.parked_rows p on p.lane = $1 and p.seq = h.seq
        where h.key is null)
      select seq, tx, event_id, exchange, routing_key, type, key, payload, content_type,
        headers, properties, written, reason, attempts
      from (
        select *, sum(size) over (order by due, seq rows unbounded preceding) as upto
        from (
          select *, ${size} as size
          from (
            select seq, tx, event_id, exchange, routing_key, type, key, payload, content_type,
              nullif(headers, '{}')::text as headers, nullif(properties, '{}')::text as properties,
              ${written} as written, reason, attempts, due
            from chains order by due, seq limit $2) c) s) q
      where upto - size < $3
      order by due, seq
      """
          .replace("${written}", OutboxSql.WRITTEN)
          .replace("${size}", OutboxSql.SIZE);

  static final String PUBLISHED = gone("seq = any($2)");

  static final String REFUSED =
      """
      update ${schema}.parked_rows p
      set reason = g.reason, detail = g.detail, attempts = p.attempts + 1,
        next_attempt_at = clock_timestamp() + g.retry_in * interval '1 millisecond'
      from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[]) as g(seq, reason, detail, retry_in)
      where p.lane = $1 and p.seq = g.seq
      """;

  /**
   * Changes rows of some keys. They are found by the index of keys alone, whatever the planner
   * believes: by that of the lane it would walk through all that the lane has.
   */
  private static String ofKeys(String to, String which) {
    return """
        update ${schema}.parked_rows set next_attempt_at = %s
        where ctid = any(array(
          select c.ctid from unnest($2::text[]) k(key) cross join lateral (
            select ctid, seq, min(seq) over () as first, next_attempt_at
            from ${schema}.parked_rows where key = k.key and lane + 0 = $1) c
          where %s))
        """
        .formatted(to, which);
  }

  /**
   * What was refused behind another parked row of its key waits for that one. Several rows of a key
   * may be refused where they are sent without waiting for each other.
   */
  static final String DEMOTE = ofKeys("null", "c.seq > c.first and c.next_attempt_at is not null");

  /** What is now the first of its key is due. */
  static final String PROMOTE = ofKeys("now()", "c.seq = c.first and c.next_attempt_at is null");

  static final String STATE =
      """
      select array(
          select k from unnest($2::text[]) k
          where not exists (select 1 from ${schema}.parked_rows p where p.key = k and p.lane = $1)),
        (select ceil(extract(epoch from min(next_attempt_at) - clock_timestamp()) * 1000)::bigint
          from ${schema}.parked_rows where lane = $1)
      """;

  /**
   * In their order, a microsecond apart, those last that go where one was tried; and with them what
   * was tried, which would be due alone otherwise, and tried again.
   */
  static final String POSTPONE =
      """
      with its as (
        select seq, routing_key, next_attempt_at from ${schema}.parked_rows
        where lane = $1 and exchange = $2 and routing_key = coalesce($4, routing_key)
          and next_attempt_at <= now()
        union
        select seq, routing_key, next_attempt_at from ${schema}.parked_rows
        where lane = $1 and seq = any($6) and exchange = $2
          and routing_key = coalesce($4, routing_key) and next_attempt_at is not null),
      placed as (
        select seq, row_number() over (order by routing_key = any($5), next_attempt_at, seq) as place
        from its)
      update ${schema}.parked_rows p
      set next_attempt_at = statement_timestamp() + $3 * interval '1 millisecond'
        + placed.place * interval '1 microsecond'
      from placed where p.lane = $1 and p.seq = placed.seq
      """;

  static final String REQUESTS =
      """
      select id, seq, action, exchange, routing_key, operator from ${schema}.parked_requests
      where lane = $1 and done_at is null order by id limit 200
      """;

  static final String RETRY =
      """
      update ${schema}.parked_rows set next_attempt_at = now()
      where lane = $1 and seq = $2 and next_attempt_at is not null
      returning key, event_id, null::text, null::text
      """;

  static final String SKIP = gone("seq = $2");

  static final String REDIRECT =
      """
      update ${schema}.parked_rows
      set exchange = $3, routing_key = coalesce($4, routing_key),
        next_attempt_at = case when next_attempt_at is not null then now() end
      where lane = $1 and seq = $2 returning key, event_id, exchange, routing_key
      """;

  static final String DONE =
      """
      update ${schema}.parked_requests set done_at = clock_timestamp(), outcome = $2 where id = $1
      """;

  /** Requests for rows that have been published meanwhile, or whose lane nobody owned, included. */
  static final String REQUEST =
      """
      with asked as (
        insert into ${schema}.parked_requests (lane, seq, action, exchange, routing_key, operator)
        select lane, seq, $2, $3, $4, $5 from ${schema}.parked_rows where seq = any($1)
        order by seq returning lane, seq),
      noted as (
        insert into ${schema}.audit (actor, action, event_id, evidence, detail)
        select $5, 'outbox_' || $2, p.event_id, $6,
          'seq=' || p.seq || ' key=' || coalesce(p.key, '') || ' exchange=' || p.exchange
            || ' routing_key=' || p.routing_key
            || case when $3::text is null then '' else
                 ' to exchange=' || $3 || coalesce(' routing_key=' || $4, '') end
        from asked join ${schema}.parked_rows p using (lane, seq) order by p.seq)
      select seq from asked order by seq
      """;
}
