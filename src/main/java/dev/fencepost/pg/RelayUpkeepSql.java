package dev.fencepost.pg;

/** The statements of the relay's upkeep and its doorbell. */
final class RelayUpkeepSql {
  private RelayUpkeepSql() {}

  /** Rows of one key keep the order of their times. */
  static final String MOVE =
      """
      with owner as materialized (
        select 1 from ${schema}.relay_leases where lane = $1 and owner = $2 and fence = $3 for key share),
      due as (
        delete from ${schema}.scheduled where id in (
          select id from ${schema}.scheduled where due_at <= now() and exists (select 1 from owner)
          order by due_at, id limit $4 for update skip locked)
        returning *)
      insert into ${schema}.outbox
        (event_id, exchange, routing_key, type, key, payload, content_type, headers, properties)
      select event_id, exchange, routing_key, type, key, payload, content_type, headers, properties
      from due order by due_at, id
      """;

  /** Null when nothing is scheduled; greatest() would make 0 of it. */
  static final String NEXT_DUE =
      """
      select case when due_at > clock_timestamp()
          then ceil(extract(epoch from due_at - clock_timestamp()) * 1000)::bigint else 0 end
      from (select due_at from ${schema}.scheduled order by due_at, id limit 1) first
      """;

  /** Not what was deleted before: where vacuum is held back, that is still to be walked over. */
  static final String PRUNE =
      """
      delete from ${schema}.relay_checkpoints c
      using unnest($1::smallint[], $2::bigint[]) as l(lane, above)
      where c.lane = l.lane and c.n > l.above and c.n < (
        select n from ${schema}.relay_checkpoints where lane = l.lane order by n desc limit 1) - 1
      returning c.lane, c.n
      """;

  /** The slot that comes next: its last time ended at least the retention ago. */
  static final String NEXT_SLOT =
      """
      select ((extract(epoch from clock_timestamp())::bigint / slot_seconds + 1) % slots)::int,
        slot_seconds * (slots - 2)
      from ${schema}.relay_layout
      """;

  static final String ANY = "select exists (select 1 from ${schema}.outbox_${slot})";

  static final String SHORT_WAIT =
      """
      select set_config('lock_timeout', '20ms', true), set_config('enable_seqscan', 'off', true),
        set_config('synchronous_commit', 'on', true)
      """;

  static final String LOCK = "lock table ${schema}.outbox_${slot} in access exclusive mode";

  static final String TRUNCATE = "truncate ${schema}.outbox_${slot}";

  /**
   * Whether a row of the slot is young, or not settled in its lane. What is not visible in the
   * newest checkpoint's last snapshot has a transaction at or above its xmin: found by BRIN. The
   * age is that of the last row of each lane.
   */
  static final String NEEDED =
      """
      select
        exists (
          select 1 from ${schema}.outbox_${slot} o
          where o.tx >= (select min(pg_snapshot_xmin(last)::text::bigint) from (${newest}) c)
            and not pg_visible_in_snapshot(o.tx::text::xid8,
              (select last from (${newest}) c where c.lane = o.lane)))
        or exists (
          select 1 from ${schema}.relay_leases l cross join lateral (
            select created_at from ${schema}.outbox_${slot} o where o.lane = l.lane
            order by seq desc limit 1) o
          where o.created_at > now() - $1 * interval '1 second')
      """
          .replace(
              "${newest}",
              """
              select l.lane, c.last from ${schema}.relay_leases l cross join lateral (
                select last from ${schema}.relay_checkpoints c where c.lane = l.lane
                order by c.n desc limit 1) c""");

  static final String FORGET_REQUESTS =
      "delete from ${schema}.parked_requests where done_at < now() - interval '7 days'";

  static final String ASLEEP = "select nextval('${schema}.relay_asleep')";

  static final String RUNG =
      """
      select setval('${schema}.relay_rung', $1)
      from ${schema}.relay_rung r where r.last_value < $1
      """;
}
