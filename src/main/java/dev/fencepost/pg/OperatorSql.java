package dev.fencepost.pg;

/** What people decide: reviews, dead letters. Each leaves a line in the audit log. */
final class OperatorSql {
  private OperatorSql() {}

  /** A decision on a review; nothing changes unless the row is in review under that fence. */
  static final String RESOLVE =
      """
      with found as materialized (
        select *, state = 'manual_review' and ($4::bigint is null or fence = $4) as fits
        from ${schema}.activity where consumer = $1 and event_id = $2 for update),
      changed as (
        update ${schema}.activity a set
          state = case $3 when 'succeeded' then 'completed' when 'failed' then 'dead'
            else 'retry_scheduled' end,
          waits = null, live_key = case when $3 = 'retry' then a.live_key end,
          keep = true, batch = null,
          granted = case when $3 = 'retry' then a.attempts + 1 else a.granted end,
          next_attempt_at = case when $3 = 'retry' and a.body is not null then now() end,
          awaiting_message = a.body is null and $3 <> 'succeeded',
          finished_at = case when $3 <> 'retry' then now() end,
          receipt_outcome = case $3 when 'succeeded' then 'succeeded' else a.receipt_outcome end,
          receipt_fence = case $3 when 'succeeded' then a.fence else a.receipt_fence end,
          receipt_at = case $3 when 'succeeded' then now() else a.receipt_at end,
          outcome = case when a.attempt_fence is not null then coalesce(a.outcome, 'superseded') end,
          ended_at = case when a.attempt_fence is not null then coalesce(a.ended_at, now()) end,
          exchange = case when $3 = 'retry' then a.exchange end,
          routing_key = case when $3 = 'retry' then a.routing_key end,
          headers = case when $3 = 'retry' then a.headers end,
          properties = case when $3 = 'retry' then a.properties end,
          body = case when $3 = 'retry' then a.body end
        from found f
        where a.consumer = f.consumer and a.event_id = f.event_id and f.fits
        returning a.consumer, a.event_id, a.state, a.ordering_key),
      died as (
        insert into ${schema}.dead_letter (consumer, event_id, generation, type, reason, attempts,
          error_class, error_message, error_cause, exchange, routing_key, headers, properties, body)
        select consumer, event_id, generation, type, 'permanent_failure', attempts,
          'operator_decision', $6, error_message, exchange, routing_key, headers, properties, body
        from found where fits and $3 = 'failed' on conflict do nothing),
      audited as (
        insert into ${schema}.audit (actor, action, consumer, event_id, generation, fence, evidence,
          detail)
        select $5, 'review_resolved', consumer, event_id, generation, fence, $6, 'decision=' || $3
        from found where fits)
      select f.state as was, f.fence, f.generation, c.state, c.ordering_key
      from found f left join changed c on true
      """;

  /**
   * A new generation of each event, with a fresh budget, due now. The rows are locked as
   * everywhere: dead letters by id, then activities by key.
   */
  static final String REDRIVE =
      """
      with letters as materialized (
        select * from ${schema}.dead_letter where id = any($1) order by id for update),
      rows as materialized (
        select a.*, l.id, l.exchange as l_exchange, l.routing_key as l_routing_key,
          l.headers as l_headers, l.properties as l_properties, l.body as l_body, l.reason
        from letters l join ${schema}.activity a
          on a.consumer = l.consumer and a.event_id = l.event_id
        where l.state = 'open' and a.state = 'dead' and a.generation = l.generation
          and l.body is not null and a.type is not null
        order by a.consumer, a.event_id for update of a),
      attempts as (%s from rows r where r.attempt_fence is not null on conflict do nothing),
      receipts as (
        insert into ${schema}.receipt (consumer, event_id, generation, outcome, body, fence,
          recorded_at)
        select consumer, event_id, generation, receipt_outcome, receipt_body, receipt_fence,
          receipt_at
        from rows where receipt_outcome is not null on conflict do nothing),
      changed as (
        update ${schema}.activity a set
          state = 'retry_scheduled', live_key = a.ordering_key, generation = a.generation + 1, attempts = 0, retries = 0,
          granted = null, suspect = false, keep = true, awaiting_message = false,
          pending_reason = null, batch = null, next_attempt_at = now(), finished_at = null,
          attempt_fence = null, started_at = null, ended_at = null, attempt_redelivered = null,
          outcome = null, error_class = null, error_message = null, phase = null,
          progress_seq = null, progress_at = null, receipt_outcome = null, receipt_fence = null,
          receipt_at = null, receipt_body = null, exchange = r.l_exchange,
          routing_key = r.l_routing_key, headers = r.l_headers, properties = r.l_properties,
          body = r.l_body
        from rows r where a.consumer = r.consumer and a.event_id = r.event_id
        returning a.consumer, a.event_id, a.generation, a.fence, r.id, r.reason),
      marked as (
        update ${schema}.dead_letter d set state = 'redriven' from changed c where d.id = c.id),
      audited as (
        insert into ${schema}.audit (actor, action, consumer, event_id, generation, fence, evidence,
          detail)
        select $2, 'redrive', consumer, event_id, generation, fence, $3,
          'dead_letter=' || id || ' reason=' || reason
        from changed)
      select l.id, l.state, c.id is not null as changed, l.body is null as bodiless,
        l.type is null as untyped
      from letters l left join changed c on c.id = l.id
      """
          .formatted(ClaimSql.history("r"));

  static final String DISCARD =
      """
      with letters as materialized (
        select * from ${schema}.dead_letter where id = any($1) order by id for update),
      changed as (
        update ${schema}.dead_letter d set state = 'discarded'
        from letters l where d.id = l.id and l.state = 'open'
        returning d.id, d.consumer, d.event_id, d.generation, d.reason),
      audited as (
        insert into ${schema}.audit (actor, action, consumer, event_id, generation, evidence, detail)
        select $2, 'discard', consumer, event_id, generation, $3,
          'dead_letter=' || id || ' reason=' || reason
        from changed)
      select l.id, l.state, c.id is not null as changed, false as bodiless, false as untyped
      from letters l left join changed c on c.id = l.id
      """;
}
