package dev.fencepost.pg;

/** Statements that end starts, by owner and fence. */
final class SettleSql {
  private SettleSql() {}

  /** $2 and $3: batches of owner $1 that have no more running rows. */
  private static final String GONE =
      """
      with gone as (
        delete from ${schema}.claim_batch b
        using unnest($2::text[], $3::bigint[]) g(consumer, batch)
        where b.consumer = g.consumer and b.batch = g.batch and b.owner = $1)
      """;

  /**
   * Plain successes: one update in place. A receipt that was recorded before stays as it is; rows
   * whose receipt says failed are left to {@link #CHANGE}. The batches that have no more running
   * rows go with it.
   */
  static final String COMPLETE =
      """
      %s
      update ${schema}.activity a set
        state = 'completed', live_key = null, finished_at = now(), ended_at = now(),
        outcome = 'succeeded', receipt_outcome = 'succeeded', receipt_fence = coalesce(a.receipt_fence, a.fence),
        receipt_at = coalesce(a.receipt_at, now()),
        receipt_body = coalesce(a.receipt_body, s.receipt),
        batch = case when a.keep or a.kind = 'irreversible' then null else a.batch end,
        exchange = null, routing_key = null, headers = null, properties = null, body = null
      from unnest($4::text[], $5::text[], $6::bigint[], $7::text[]) with ordinality
        s(consumer, event_id, fence, receipt, ord)
      where a.consumer = s.consumer and a.event_id = s.event_id and a.owner = $1
        and a.fence = s.fence and a.state = 'running'
        and a.receipt_outcome is distinct from 'failed_permanent'
      returning s.ord, a.ordering_key
      """
          .formatted(GONE);

  /**
   * Plain successes of all that still runs of some batches, found by the index that leads the
   * sweep: first starts of events without a key, without a message or receipt in their rows.
   */
  static final String COMPLETE_BATCHES =
      """
      %s
      update ${schema}.activity a set
        state = 'completed', finished_at = now(), ended_at = now(), outcome = 'succeeded',
        receipt_outcome = 'succeeded', receipt_fence = a.fence, receipt_at = now()
      from unnest($4::text[], $5::bigint[]) s(consumer, batch)
      where a.consumer = s.consumer and a.batch = s.batch and a.owner = $1 and a.fence = 1
        and a.state = 'running' and a.receipt_outcome is null and a.body is null and not a.keep
        and a.ordering_key is null
      """
          .formatted(GONE);

  /**
   * Any other change of running rows: $1 the owner it must have (null: any), $2 whether its lease
   * must have expired, $3 who is named in the audit log. A receipt that is there is stronger than
   * the outcome. What needs its message and lacks it waits for it. A suspect is cleared by a start
   * that its process survived; one that was interrupted proves nothing.
   */
  static final String CHANGE =
      """
      with s as (
        select * from unnest($4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
          $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::text[],
          $15::text[], $16::text[], $17::text[], $18::boolean[], $19::boolean[], $20::boolean[],
          $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[],
          $27::text[], $28::bytea[]) with ordinality
          s(consumer, event_id, fence, state, outcome, delay, retry, uncount, error_class,
            error_message, error_cause, receipt, receipt_body, reason, raises, keeps, suspects,
            audit, audit_detail, evidence, exchange, routing_key, headers, properties, body, ord)),
      found as materialized (
        select s.*, a.generation, a.attempts, a.type, a.receipt_outcome as had,
          a.receipt_body as had_body, coalesce(a.receipt_outcome, s.receipt) as effective,
          a.error_class as was_class, a.error_message as was_message,
          coalesce(a.body, s.body) as m_body,
          case when a.body is null then s.exchange else a.exchange end as m_exchange,
          case when a.body is null then s.routing_key else a.routing_key end as m_routing_key,
          case when a.body is null then s.headers::jsonb else a.headers end as m_headers,
          case when a.body is null then s.properties::jsonb else a.properties end as m_properties
        from s join ${schema}.activity a on a.consumer = s.consumer and a.event_id = s.event_id
        where a.fence = s.fence and a.state = 'running' and ($1::text is null or a.owner = $1)
          and (not $2 or a.lease_until <= now())
        order by s.consumer, s.event_id for update of a),
      aimed as materialized (
        select f.*,
          case f.effective when 'succeeded' then 'completed' when 'failed_permanent' then 'dead'
            else f.state end as aim,
          case f.effective when 'failed_permanent' then 'permanent_failure' else f.reason end as why
        from found f),
      next as materialized (
        select f.*, case when f.aim = 'dead' and f.m_body is null then 'retry_scheduled'
            else f.aim end as next_state,
          f.m_body is null and f.aim in ('dead', 'retry_scheduled') as awaits,
          case when f.aim = 'dead' then coalesce(f.error_class, f.was_class,
            case when f.effective is null then 'lease_lost' else 'failed_permanent' end) end
            as d_class,
          case when f.aim = 'dead' then coalesce(f.error_message,
            case when f.effective is not null then coalesce(f.had_body, f.receipt_body) end,
            f.was_message, case when f.effective is null then 'no outcome was reported' end) end
            as d_message
        from aimed f),
      changed as (
        update ${schema}.activity a set
          state = n.next_state,
          waits = case when n.next_state = 'manual_review' then n.next_state end,
          live_key = case when n.next_state not in ('completed', 'dead') then a.live_key end,
          fence = a.fence + n.raises::int,
          attempts = a.attempts - n.uncount,
          retries = a.retries + case when n.aim = 'retry_scheduled' then n.retry else 0 end,
          keep = a.keep or n.keeps or n.aim in ('dead', 'manual_review'),
          suspect = case when a.attempt_fence is null or a.outcome is not null then a.suspect
            else n.suspects or (a.suspect and n.outcome = 'interrupted') end,
          lease_until = case when n.aim = 'running'
            then now() + n.delay * interval '1 millisecond' else a.lease_until end,
          next_attempt_at = case when n.aim = 'retry_scheduled' and not n.awaits
            then now() + n.delay * interval '1 millisecond' end,
          awaiting_message = n.awaits,
          pending_reason = case when n.awaits and n.aim = 'dead' then n.why end,
          finished_at = case when n.next_state in ('completed', 'dead') then now() end,
          batch = case when n.aim = 'running' then a.batch
            when n.aim = 'completed' and not (a.keep or n.keeps) and a.kind <> 'irreversible'
            then a.batch end,
          ended_at = case when a.attempt_fence is not null then coalesce(a.ended_at, now()) end,
          outcome = case when a.attempt_fence is null then null
            when a.outcome is not null then a.outcome
            when n.had is not null and n.outcome not in ('succeeded', 'permanent_failure')
            then 'superseded' else n.outcome end,
          error_class = coalesce(n.error_class, n.d_class, a.error_class),
          error_message = coalesce(n.error_message, n.d_message, a.error_message),
          receipt_outcome = n.effective,
          receipt_fence = case when n.effective is not null
            then coalesce(a.receipt_fence, a.fence) end,
          receipt_at = case when n.effective is not null then coalesce(a.receipt_at, now()) end,
          receipt_body = case when n.had is null then n.receipt_body
            else coalesce(a.receipt_body, n.receipt_body) end,
          exchange = case when n.next_state in ('completed', 'dead') then null
            else n.m_exchange end,
          routing_key = case when n.next_state in ('completed', 'dead') then null
            else n.m_routing_key end,
          headers = case when n.next_state in ('completed', 'dead') then null else n.m_headers end,
          properties = case when n.next_state in ('completed', 'dead') then null
            else n.m_properties end,
          body = case when n.next_state in ('completed', 'dead') then null else n.m_body end
        from next n
        where a.consumer = n.consumer and a.event_id = n.event_id
        returning n.ord, a.state, a.ordering_key, a.fence, a.generation, a.batch, n.consumer,
          n.event_id, n.type, n.attempts, n.d_class as dead_class, n.d_message as dead_message,
          case when n.next_state = 'dead' then n.why end as dead_reason),
      died as (
        insert into ${schema}.dead_letter (consumer, event_id, generation, type, reason, attempts,
          error_class, error_message, error_cause, exchange, routing_key, headers, properties, body)
        select consumer, event_id, generation, type, why, attempts, d_class, d_message,
          error_cause, m_exchange, m_routing_key, m_headers, m_properties, m_body
        from next where next_state = 'dead' on conflict do nothing),
      overdue as (
        update ${schema}.claim_batch b set
          until = least(b.until, now() + n.delay * interval '1 millisecond')
        from next n join ${schema}.activity a on a.consumer = n.consumer and a.event_id = n.event_id
        where n.aim = 'running' and b.consumer = a.consumer and b.batch = a.batch),
      audited as (
        insert into ${schema}.audit (actor, action, consumer, event_id, generation, fence, evidence,
          detail)
        select $3, audit, consumer, event_id, generation, fence, evidence, audit_detail
        from next where audit is not null and (audit <> 'manual_review' or aim = audit)
        union all
        select $3, 'awaiting_message', consumer, event_id, generation, fence, null,
          'the row has no body: its message must come first'
        from next where awaits)
      select ord, state, ordering_key, fence, generation, consumer, event_id, type, attempts,
        dead_reason, dead_class, dead_message
      from changed
      """;

  /**
   * Settlements that found no row of theirs: those that had been applied before, and for the others
   * the late result in the audit log.
   */
  static final String MISSED =
      """
      with s as (
        select * from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[],
          $7::text[]) with ordinality s(consumer, event_id, fence, outcome, evidence, detail, ord)),
      judged as materialized (
        select s.*, a.generation, coalesce(
          a.attempt_fence = s.fence and a.owner = $1 and a.outcome = s.outcome, false)
          or exists (select 1 from ${schema}.attempt t where t.consumer = s.consumer
            and t.event_id = s.event_id and t.fence = s.fence and t.worker = $1
            and t.outcome = s.outcome) as applied
        from s left join ${schema}.activity a
          on a.consumer = s.consumer and a.event_id = s.event_id),
      audited as (
        insert into ${schema}.audit (actor, action, consumer, event_id, generation, fence, evidence,
          detail)
        select $1, 'lease_lost', consumer, event_id, generation, fence, evidence, detail
        from judged where not applied)
      select ord, applied from judged
      """;

  /** The receipt ahead of the settlement; the first one stands. */
  static final String RECEIPT =
      """
      with found as materialized (
        select consumer, event_id, receipt_outcome as had from ${schema}.activity
        where consumer = $2 and event_id = $3 and owner = $1 and fence = $4 and state = 'running'
        for update),
      recorded as (
        update ${schema}.activity a set receipt_outcome = $5, receipt_body = $6,
          receipt_fence = a.fence, receipt_at = now()
        from found f
        where a.consumer = f.consumer and a.event_id = f.event_id and f.had is null)
      select coalesce(had, $5) as outcome from found
      """;

  /** Extends leases; rows that are locked are skipped, and answered as not stored. */
  static final String RENEW =
      """
      with s as (
        select * from unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
          with ordinality s(consumer, event_id, fence, progress_seq, phase, ord)),
      found as materialized (
        select s.* from s
        join ${schema}.activity a on a.consumer = s.consumer and a.event_id = s.event_id
        where a.owner = $1 and a.fence = s.fence and a.state = 'running'
        order by s.consumer, s.event_id for update of a skip locked),
      renewed as (
        update ${schema}.activity a set lease_until = now() + $2::bigint * interval '1 millisecond',
          progress_at = case when n.progress_seq is null then a.progress_at else now() end,
          progress_seq = coalesce(n.progress_seq, a.progress_seq),
          phase = coalesce(n.phase, a.phase)
        from found n where a.consumer = n.consumer and a.event_id = n.event_id)
      select s.ord, f.ord is not null as stored from s
      join ${schema}.activity a on a.consumer = s.consumer and a.event_id = s.event_id
      left join found f on f.ord = s.ord
      where a.owner = $1 and a.fence = s.fence and a.state = 'running'
      """;

  /**
   * The first of each key that has not ended goes on: when it was blocked, or is due and waited
   * behind another, so long perhaps that the looks at due rows reach back to it no more. Gives
   * their consumers.
   */
  static final String RELEASE =
      """
      with first as materialized (
        select x.* from (select distinct consumer, key
          from unnest($1::text[], $2::text[]) k(consumer, key)) k
        cross join lateral (
          select a.consumer, a.event_id, a.state from ${schema}.activity a
          where a.consumer = k.consumer and a.live_key = k.key order by a.arrival limit 1) x)
      update ${schema}.activity a set state = 'retry_scheduled', waits = null,
        next_attempt_at = now()
      from first f
      where a.consumer = f.consumer and a.event_id = f.event_id
        and f.state in ('blocked', 'retry_scheduled') and (a.state = 'blocked'
          or (a.state = 'retry_scheduled' and a.next_attempt_at <= now()))
      returning a.consumer
      """;
}
