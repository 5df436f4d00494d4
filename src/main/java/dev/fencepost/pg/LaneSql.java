package dev.fencepost.pg;

/** The statements of lane leases, instances and parked rows. Time is the database's throughout. */
final class LaneSql {
  private LaneSql() {}

  /**
   * Registers the instance, renews and reports. An expired lease that nobody has taken may be
   * renewed: owner and fence decide, and stay as they are until this is committed.
   */
  static final String RENEW =
      """
      with alive as (
        insert into ${schema}.relay_instances (instance, alive_until)
        values ($1, now() + $2 * interval '1 millisecond')
        on conflict (instance) do update set alive_until = excluded.alive_until),
      mine as materialized (
        select g.* from unnest($3::smallint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
            $8::boolean[], $9::bigint[], $10::timestamptz[])
            as g(lane, fence, position, cause, detail, behind, parked, hidden_since)
          join ${schema}.relay_leases l using (lane)
        where l.owner = $1 and l.fence = g.fence
        order by lane for key share of l)
      update ${schema}.relay_reports r
      set lease_until = now() + $2 * interval '1 millisecond', position = g.position,
        lag_cause = g.cause, lag_detail = g.detail, parked = g.parked, reported_at = now(),
        oldest_unpublished_at = least(
          case when g.behind then (
            select o.created_at from ${schema}.outbox o
            where o.lane = g.lane and o.seq > g.position order by o.seq limit 1) end,
          case when g.parked > 0 then (
            select p.created_at from ${schema}.parked_rows p
            where p.lane = g.lane order by p.seq limit 1) end,
          g.hidden_since)
      from mine g where r.lane = g.lane
      returning r.lane,
        coalesce(extract(epoch from now() - r.oldest_unpublished_at) * 1000, 0)::bigint, r.lag_cause
      """;

  /**
   * Of these transactions the one that has been open longest, longer than a moment, and has written
   * to the outbox: it holds a lock on it until it ends. Without the right to see other users'
   * sessions its age is not known.
   */
  static final String HIDING =
      """
      with locks as materialized (
        select virtualtransaction, pid, locktype, relation, mode, transactionid from pg_locks
        where granted and locktype in ('relation', 'transactionid')),
      open as (
        select t.transactionid, t.pid, coalesce(a.xact_start, p.prepared) as since
        from locks t
          left join pg_stat_activity a on a.pid = t.pid
          left join pg_prepared_xacts p on p.transaction = t.transactionid
        where t.locktype = 'transactionid' and t.mode = 'ExclusiveLock'
          and t.transactionid::text::bigint = any(array(select x & 4294967295 from unnest($1::bigint[]) x))
          and exists (
            select 1 from locks r
            where r.virtualtransaction = t.virtualtransaction and r.locktype = 'relation'
              and r.mode = 'RowExclusiveLock' and r.relation = '${schema}.outbox'::regclass))
      select (select x from unnest($1::bigint[]) x where x & 4294967295 = transactionid::text::bigint),
        coalesce('pid=' || pid, 'prepared transaction ' || transactionid) || ' transaction='
          || transactionid || ' age='
          || coalesce(extract(epoch from clock_timestamp() - since)::bigint || 's', 'unknown'),
        since
      from open
      where since is null or since < clock_timestamp() - interval '1 second'
      order by since limit 1
      """;

  /** Live instances, with no lane, and the lanes, with their valid owners. */
  static final String STANDING =
      """
      select null::smallint, instance, null::bigint, null::bigint
      from ${schema}.relay_instances where alive_until > now()
      union all
      select lane, case when lease_until > now() then owner end,
        ceil(extract(epoch from lease_until - now()) * 1000)::bigint, parked
      from ${schema}.relay_leases join ${schema}.relay_reports using (lane)
      """;

  /**
   * For a take-over, in its transaction: renewals and checkpoints, which take for key share, wait
   * or have been committed, and {@link #TAKE} sees them.
   */
  static final String HOLD =
      """
      select lane from ${schema}.relay_leases where lane = any($1) order by lane for update skip locked
      """;

  static final String TAKE =
      """
      with taken as (
        update ${schema}.relay_leases l set owner = $1, fence = l.fence + 1
        from ${schema}.relay_reports r
        where r.lane = l.lane and l.lane = any($3)
          and (l.owner is null or l.owner = $1 or r.lease_until <= now())
        returning l.lane, l.fence),
      prolonged as (
        update ${schema}.relay_reports r set lease_until = now() + $2 * interval '1 millisecond'
        from taken where r.lane = taken.lane)
      select lane, fence from taken
      """;

  /** After the take-over has been committed: the newest, whoever wrote it. */
  static final String NEWEST =
      """
      select l.lane, c.fence, c.n, c.last::text, c.floor, c.floors, c.cur::text, c.next_floor, c.position,
        (select life from ${schema}.relay_life)
      from unnest($1::smallint[]) as l(lane) cross join lateral (
        select * from ${schema}.relay_checkpoints c
        where c.lane = l.lane order by c.n desc limit 1) c
      """;

  /** Parked rows, and those that were and must not be met again, which have no reason. */
  static final String PARKED_SEQS =
      """
      select lane, seq, key, exchange, reason from ${schema}.parked_rows where lane = any($1)
      union all
      select lane, seq, null, null, null from ${schema}.parked_gone where lane = any($1)
      """;

  static final String RELEASE =
      """
      with released as (
        update ${schema}.relay_leases l set owner = null
        from unnest($2::smallint[], $3::bigint[]) as g(lane, fence)
        where l.lane = g.lane and l.owner = $1 and l.fence = g.fence
        returning l.lane)
      update ${schema}.relay_reports r set lease_until = null
      from released where r.lane = released.lane
      """;

  static final String LEAVE = "delete from ${schema}.relay_instances where instance = $1";

  /** Instances that did not leave in order. */
  static final String BURY =
      "delete from ${schema}.relay_instances where alive_until < now() - interval '1 day'";

  /** The whole row, from the outbox itself. */
  static final String PARK =
      """
      insert into ${schema}.parked_rows (lane, seq, tx, event_id, exchange, routing_key, type, key, payload,
        content_type, headers, properties, created_at, reason, detail, attempts, next_attempt_at)
      select o.lane, o.seq, o.tx, o.event_id, o.exchange, o.routing_key, o.type, o.key, o.payload,
        o.content_type, o.headers, o.properties, o.created_at, g.reason, g.detail, g.attempts,
        now() + g.retry_in * interval '1 millisecond'
      from unnest($2::bigint[], $3::text[], $4::text[], $5::integer[], $6::bigint[])
        as g(seq, reason, detail, attempts, retry_in)
      join ${schema}.outbox o on o.lane = $1 and o.seq = g.seq
      on conflict (lane, seq) do nothing
      """;
}
