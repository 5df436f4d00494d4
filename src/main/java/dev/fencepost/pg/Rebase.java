package dev.fencepost.pg;

/**
 * Lays the outbox anew, in one transaction: after a dump and restore, where the transaction ids of
 * rows and snapshots mean nothing any more, and for another number of lanes. What is not published
 * is written once more, in its order; what was published is no longer kept for replay; parked and
 * scheduled rows stay. Writers wait meanwhile, and relays that still run lose their lanes.
 */
final class Rebase {
  private static final String TEXT =
      """
      set local lock_timeout = '${lockTimeout}';
      lock table ${schema}.outbox in access exclusive mode;
      select 1 from ${schema}.relay_leases order by lane for update;

      create temporary table fencepost_rebase on commit drop as
      select o.seq, o.event_id, o.exchange, o.routing_key, o.type, o.key, o.payload, o.content_type,
        o.headers, o.properties, o.created_at
      from ${schema}.outbox o cross join lateral (
        select * from ${schema}.relay_checkpoints c where c.lane = o.lane order by c.n desc limit 1) c
      where not exists (
          select 1 from ${schema}.parked_rows p where p.lane = o.lane and p.seq = o.seq)
        and not exists (
          select 1 from ${schema}.parked_gone g where g.lane = o.lane and g.seq = o.seq)
        and not pg_visible_in_snapshot(o.tx::text::xid8, c.last)
        and (c.cur is null or o.seq > c.position
          or not pg_visible_in_snapshot(o.tx::text::xid8, c.cur));

      select setval('${schema}.outbox_seq', greatest(1,
        (select last_value from ${schema}.outbox_seq),
        (select max(seq) from ${schema}.outbox),
        (select max(seq) from ${schema}.parked_rows)));

      create temporary table fencepost_rebase_at on commit drop as
      select max(c.n) + 1 as n,
        (select max(fence) from ${schema}.relay_leases) + 1 as fence,
        (select last_value from ${schema}.outbox_seq) as position,
        pg_get_viewdef('${schema}.relay_lanes'::regclass) as lanes_view
      from ${schema}.relay_checkpoints c;

      truncate ${schema}.outbox;
      delete from ${schema}.parked_gone;
      delete from ${schema}.relay_checkpoints;
      delete from ${schema}.relay_leases;
      delete from ${schema}.relay_reports;
      delete from ${schema}.relay_instances;
      delete from ${schema}.relay_life;
      ${lane}
      update ${schema}.relay_layout set lanes = ${lanes},
        system_identifier = (select system_identifier from pg_control_system());
      insert into ${schema}.relay_leases (lane, fence)
      select lane, fence from fencepost_rebase_at, generate_series(0, ${lanes} - 1) lane;
      insert into ${schema}.relay_reports (lane, position)
      select lane, position from fencepost_rebase_at, generate_series(0, ${lanes} - 1) lane;

      insert into ${schema}.outbox
        (event_id, exchange, routing_key, type, key, payload, content_type, headers, properties, created_at)
      select event_id, exchange, routing_key, type, key, payload, content_type, headers, properties,
        created_at
      from fencepost_rebase order by seq;

      insert into ${schema}.relay_checkpoints (lane, fence, n, last, floor, floors, position)
      select l.lane, l.fence, a.n, f.last, 0, array(select 0::bigint from pg_snapshot_xip(f.last)), 0
      from ${schema}.relay_leases l, fencepost_rebase_at a, (
        select (least(pg_snapshot_xmin(s), own) || ':' || least(pg_snapshot_xmax(s), own) || ':'
          || array_to_string(array(
            select x from pg_snapshot_xip(s) x where x < least(pg_snapshot_xmax(s), own)
            order by x), ','))::pg_snapshot as last
        from pg_current_snapshot() s, pg_current_xact_id() own) f;
      """;

  /**
   * The column is generated: it cannot be changed, and while the table is empty it costs nothing.
   */
  private static final String LANE =
      """
      drop view ${schema}.relay_lanes;
      alter table ${schema}.outbox drop column lane;
      alter table ${schema}.outbox add column lane smallint generated always as
        (((coalesce(hashtextextended(key, 0), hashint8extended(seq, 0)) & 9223372036854775807)
          % ${lanes})::smallint) stored;
      create index outbox_lane_seq on ${schema}.outbox (lane, seq);
      do $$ begin
        execute 'create view ${schema}.relay_lanes as ' || (select lanes_view from fencepost_rebase_at);
      end $$;
      update ${schema}.parked_rows set lane =
        ((coalesce(hashtextextended(key, 0), hashint8extended(seq, 0)) & 9223372036854775807)
          % ${lanes})::smallint;
      update ${schema}.parked_requests r set lane = p.lane from ${schema}.parked_rows p
      where p.seq = r.seq and r.done_at is null;
      """;

  private Rebase() {}

  /**
   * The statements, to be run in one transaction.
   *
   * @param schema quoted
   * @param relaid whether the number of lanes changes
   */
  static String sql(String schema, int lanes, boolean relaid) {
    return TEXT.replace("${lane}", relaid ? LANE.strip() : "")
        .replace("${schema}", schema)
        .replace("${lockTimeout}", LockWaits.AMONG_OURS)
        .replace("${lanes}", Integer.toString(lanes));
  }
}
