package dev.fencepost.pg;

/** Statements that find and take over what nobody has reported. */
final class RecoverySql {
  private RecoverySql() {}

  /**
   * Looks after the batches whose leases were to end by now: those without a running row go, those
   * whose leases were renewed are due later.
   */
  static final String TIDY_BATCHES =
      """
      with old as materialized (
        select consumer, batch, owner from ${schema}.claim_batch
        where consumer = $1 and until <= now() order by until limit 1000 for update skip locked),
      alive as materialized (
        select o.batch, a.until from (select distinct consumer, batch from old) o
        cross join lateral (
          select min(x.lease_until) as until from ${schema}.activity x
          where x.consumer = o.consumer and x.batch = o.batch and x.state = 'running') a
        where a.until is not null),
      gone as (
        delete from ${schema}.claim_batch b using old o
        where b.consumer = o.consumer and b.batch = o.batch and b.owner = o.owner
          and not exists (select 1 from alive l where l.batch = o.batch)),
      later as (
        update ${schema}.claim_batch b set until = l.until from old o, alive l
        where b.consumer = o.consumer and b.batch = o.batch and b.owner = o.owner
          and l.batch = o.batch and l.until > now())
      select coalesce(sum(1), 0)::bigint as moved from old o
      where not exists (select 1 from alive l where l.batch = o.batch and l.until <= now())
      """;

  /** Blocked rows that nothing stands before any more: the release that should have been. */
  static final String STRANDED =
      """
      update ${schema}.activity a set state = 'retry_scheduled', waits = null,
        next_attempt_at = now()
      from (
        select b.consumer, b.event_id from ${schema}.activity b
        where b.consumer = $1 and b.waits = 'blocked' and not exists (
          select 1 from ${schema}.activity o where o.consumer = b.consumer
            and o.live_key = b.live_key and o.arrival < b.arrival)
        limit 500 for update skip locked) s
      where a.consumer = s.consumer and a.event_id = s.event_id and a.state = 'blocked'
      """;

  /** Batch by batch: the other way round it would read all that is kept. */
  static final String EXPIRED =
      """
      select %s
      from (select distinct batch from ${schema}.claim_batch
            where consumer = $1 and until <= now()) b
      cross join lateral (
        select * from ${schema}.activity x
        where x.consumer = $1 and x.batch = b.batch and x.state = 'running'
          and x.lease_until <= now() offset 0) a
      where ($2::bigint is null or ((extract(epoch from a.lease_until) * 1000000)::bigint,
          a.event_id) > ($2::bigint, $3::text collate "C"))
      order by a.lease_until, a.event_id limit $4
      """
          .formatted(ActivityRows.EVIDENCE);

  /** Another owner, for a probe: no start is counted. */
  static final String HOLD =
      """
      with found as materialized (
        select * from ${schema}.activity
        where consumer = $2 and event_id = $3 and fence = $4 and state = 'running'
          and lease_until <= now() for update),
      history as (%1$s from found f where f.attempt_fence is not null on conflict do nothing),
      started as (
        update ${schema}.activity a set
          owner = $1, fence = a.fence + 1, batch = %2$s + $7::bigint, attempt_fence = null,
          lease_until = now() + $5::bigint * interval '1 millisecond', keep = true,
          suspect = a.suspect or (a.attempt_fence is not null and a.outcome is null),
          ended_at = null, outcome = null, error_class = null, error_message = null
        from found f where a.consumer = f.consumer and a.event_id = f.event_id
        returning a.*),
      batch as (
        insert into ${schema}.claim_batch (consumer, batch, owner, until)
        select consumer, batch, $1, lease_until from started
        on conflict (consumer, batch, owner)
        do update set until = least(claim_batch.until, excluded.until)),
      audited as (
        insert into ${schema}.audit (actor, action, consumer, event_id, generation, fence, detail)
        select $1, 'takeover', consumer, event_id, generation, fence, $6 from started)
      select consumer, event_id, fence, attempts, retries, generation, suspect, batch, ordering_key,
        exchange, routing_key, headers, properties, body
      from started
      """
          .formatted(ClaimSql.history("f"), ClaimSql.BATCH);
}
