package dev.fencepost.pg;

/** Statements that start activities. */
final class ClaimSql {
  private ClaimSql() {}

  /**
   * A claim's time, by which sweep and purge find its rows; ten bits are left for a number that
   * tells apart claims of one process at one microsecond.
   */
  static final String BATCH =
      "(select (extract(epoch from now()) * 1000000)::bigint * 1024)"; // a subquery: computed once

  private static final String CLAIM_BATCH =
      """
      insert into ${schema}.claim_batch (consumer, batch, owner, until)
        select consumer, batch, $1, min(lease_until) from started group by consumer, batch
        on conflict (consumer, batch, owner)
        do update set until = least(claim_batch.until, excluded.until)
      """;

  /** Which of these events stand behind another of their key that has not ended. */
  static final String BEHIND =
      """
      select r.ord from unnest($1::text[], $2::text[], $3::text[])
        with ordinality r(consumer, event_id, key, ord)
      where r.key is not null and exists (
        select 1 from ${schema}.activity o
        where o.consumer = r.consumer and o.live_key = r.key and o.event_id <> r.event_id)
      """;

  /**
   * Events that start for the first time, as {@code r}, from the values of {@link FirstStarts}:
   * what the configuration says comes once for each type, since every array costs as much as a
   * column.
   */
  static final String FIRSTS =
      """
      unnest($7::int[], $8::text[], $9::text[], $10::boolean[]) r(work, event_id, key, redelivered)
      """;

  private static final String FIRST_STARTS =
      """
      insert into ${schema}.activity (consumer, event_id, type, kind, state, attempts,
          redeliveries, max_retries, max_attempts, fence, batch, owner, lease_until, attempt_fence,
          started_at, attempt_redelivered, ordering_key, live_key, arrival)
        select %3$s, r.event_id, %4$s, %5$s, 'running', 1, coalesce(r.redelivered, false)::int,
          %6$s, %7$s, 1, %1$s + $12::bigint, $1,
          now() + %8$s * interval '1 millisecond', 1, now(), coalesce(r.redelivered, false), r.key, r.key,
          case when r.key is not null then nextval('${schema}.activity_arrival') end
        from %2$s
      """
          .formatted(
              BATCH,
              FIRSTS,
              ofWork(2, "text"),
              ofWork(3, "text"),
              ofWork(4, "text"),
              ofWork(5, "bigint"),
              ofWork(6, "bigint"),
              ofWork(11, "bigint"));

  /** What the configuration says of the type of {@code r}. */
  static String ofWork(int parameter, String type) {
    return "($%d::%s[])[coalesce(r.work, 1)]".formatted(parameter, type);
  }

  /** First starts. Rows that exist are left alone. */
  static final String START =
      """
      with started as (
        %s
        on conflict do nothing
        returning consumer, event_id, batch, lease_until),
      batch as (%s)
      select consumer, event_id, batch from started
      """
          .formatted(FIRST_STARTS, CLAIM_BATCH);

  /** First starts of events that are new, all of them; fails where one is not. */
  static final String START_NEW =
      """
      with started as (%1$s),
      batch as (
        insert into ${schema}.claim_batch (consumer, batch, owner, until)
        select consumer, %2$s + $12::bigint, $1, now() + min(ttl) * interval '1 millisecond'
        from unnest($2::text[], $11::bigint[]) w(consumer, ttl) group by consumer
        on conflict (consumer, batch, owner)
        do update set until = least(claim_batch.until, excluded.until))
      select %2$s + $12::bigint as batch
      """
          .formatted(FIRST_STARTS, BATCH);

  /** Rows that wait before their first start, with their message: blocked, unresolved, or due. */
  static final String STORE =
      """
      insert into ${schema}.activity (consumer, event_id, type, kind, state, max_retries,
        max_attempts, redeliveries, next_attempt_at, waits, ordering_key, live_key, arrival,
        exchange, routing_key, headers, properties, body)
      select r.consumer, r.event_id, r.type, r.kind, $1, r.max_retries, r.max_attempts,
        r.redelivered::int, case when $1 = 'retry_scheduled' then now() end,
        case when $1 <> 'retry_scheduled' then $1 end, r.key, r.key,
        case when r.key is not null then nextval('${schema}.activity_arrival') end,
        r.exchange, r.routing_key, r.headers::jsonb, r.properties::jsonb, r.body
      from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
        $8::bigint[], $9::boolean[], $10::text[], $11::text[], $12::text[], $13::text[],
        $14::bytea[])
        r(consumer, event_id, type, kind, key, max_retries, max_attempts, redelivered, exchange,
          routing_key, headers, properties, body)
      on conflict do nothing
      returning consumer, event_id
      """;

  /**
   * Deliveries of rows that exist: counts the redelivery, takes the message where the row waits
   * without it ($1: or runs without it), and lets what waited for the message or for its type (null
   * in $5: it is not known here either) go on.
   */
  static final String DELIVER_AGAIN =
      """
      with found as materialized (
        select r.ord, r.redelivered, r.type as r_type, r.kind as r_kind,
          r.exchange as r_exchange, r.routing_key as r_routing_key, r.headers::jsonb as r_headers,
          r.properties::jsonb as r_properties, r.body as r_body, a.*
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[],
          $8::text[], $9::text[], $10::text[], $11::bytea[]) with ordinality
          r(consumer, event_id, type, kind, redelivered, exchange, routing_key, headers,
            properties, body, ord)
        join ${schema}.activity a on a.consumer = r.consumer and a.event_id = r.event_id
        order by r.consumer, r.event_id for update of a),
      next as materialized (
        select f.*,
          case when f.state = 'unresolved' and f.r_kind is not null then 'retry_scheduled'
               when f.awaiting_message and f.pending_reason is not null then 'dead'
               else f.state end as next_state,
          f.awaiting_message and f.pending_reason is not null as dies,
          f.body is null and (f.state in ('retry_scheduled', 'blocked', 'manual_review')
            or ($1 and f.state = 'running')) as takes
        from found f),
      changed as (
        update ${schema}.activity a set
          state = n.next_state,
          waits = case when n.next_state = n.state then a.waits end,
          live_key = case when not n.dies then a.live_key end,
          type = case when n.state = 'unresolved' then n.r_type else a.type end,
          kind = coalesce(a.kind, n.r_kind),
          redeliveries = a.redeliveries + n.redelivered::int,
          next_attempt_at = case when n.next_state = 'retry_scheduled'
              and (n.awaiting_message or n.state <> n.next_state) then now()
            else a.next_attempt_at end,
          awaiting_message = false,
          pending_reason = null,
          finished_at = case when n.dies then now() else a.finished_at end,
          exchange = case when n.dies then null when n.takes then n.r_exchange
            else a.exchange end,
          routing_key = case when n.dies then null when n.takes then n.r_routing_key
            else a.routing_key end,
          headers = case when n.dies then null when n.takes then n.r_headers
            else a.headers end,
          properties = case when n.dies then null when n.takes then n.r_properties
            else a.properties end,
          body = case when n.dies then null when n.takes then n.r_body
            else a.body end
        from next n
        where a.consumer = n.consumer and a.event_id = n.event_id
          and (n.redelivered or n.takes or n.awaiting_message or n.next_state <> n.state)),
      died as (
        insert into ${schema}.dead_letter (consumer, event_id, generation, type, reason, attempts,
          error_class, error_message, exchange, routing_key, headers, properties, body)
        select consumer, event_id, generation, type, pending_reason, attempts, error_class,
          error_message, r_exchange, r_routing_key, r_headers, r_properties, r_body
        from next where dies
        on conflict do nothing),
      completed as (
        update ${schema}.dead_letter d set exchange = n.r_exchange, routing_key = n.r_routing_key,
          headers = n.r_headers, properties = n.r_properties, body = n.r_body
        from next n
        where n.state = 'dead' and n.awaiting_message and d.consumer = n.consumer
          and d.event_id = n.event_id and d.generation = n.generation and d.body is null)
      select a.ord, a.next_state, a.state = 'running' as runs, a.ordering_key,
        a.next_state <> a.state as moved,
        case when a.dies then a.pending_reason end as dead_reason,
        case when a.dies then a.error_class end as dead_class,
        case when a.dies then a.error_message end as dead_message, %s
      from next a
      """
          .formatted(ActivityRows.EVIDENCE);

  /**
   * Due retries of a consumer, oldest first, at most so many of each type and $9 in all; $8: the
   * suspects, otherwise all others; $11: those due for no longer than that; $13: those that have
   * not been started yet, the others, or (null) all. What has used up its starts meanwhile dies
   * instead. An event ordered by key starts only when it is the first of its key and none of the
   * key runs.
   */
  static final String DUE =
      """
      with wanted as (
        select * from unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
          $10::bigint[], $11::bigint[], $13::boolean[])
          w(type, kind, max_retries, max_attempts, ttl, free, since, first)),
      due as materialized (
        select x.*, w.kind as w_kind, w.max_retries as w_retries, w.max_attempts as w_attempts,
          w.ttl, x.attempts < greatest(w.max_attempts, x.granted) as allowed
        from wanted w cross join lateral (
          select d.* from ${schema}.activity d
          where d.consumer = $2 and d.type = w.type and d.next_attempt_at is not null
            and (d.consumer, d.type, d.next_attempt_at) <= ($2, w.type, now())
            and (d.consumer, d.type, d.next_attempt_at)
              > ($2, w.type, now() - w.since * interval '1 millisecond')
            and d.suspect = $8 and (w.first is null or w.first = (d.attempts = 0))
            and (d.live_key is null or not exists (
              select 1 from ${schema}.activity o
              where o.consumer = d.consumer and o.live_key = d.live_key
                and o.event_id <> d.event_id and (o.arrival < d.arrival or o.state = 'running')))
          order by d.next_attempt_at limit w.free for update skip locked) x
        limit $9),
      history as (%1$s from due d where d.attempt_fence is not null and d.allowed
        on conflict do nothing),
      started as (
        update ${schema}.activity a set
          state = 'running', kind = d.w_kind, max_retries = d.w_retries,
          max_attempts = d.w_attempts, attempts = a.attempts + 1, fence = a.fence + 1,
          batch = %2$s + $12::bigint, owner = $1, lease_until = now() + d.ttl * interval '1 millisecond',
          next_attempt_at = null, attempt_fence = a.fence + 1, started_at = now(), ended_at = null,
          attempt_redelivered = false, outcome = null, error_class = null, error_message = null,
          phase = null, progress_seq = null, progress_at = null
        from due d
        where a.consumer = d.consumer and a.event_id = d.event_id and d.allowed
        returning a.*),
      batch as (%3$s),
      exhausted as (
        update ${schema}.activity a set state = 'dead', live_key = null, keep = true, batch = null,
          next_attempt_at = null, finished_at = now(), exchange = null, routing_key = null,
          headers = null, properties = null, body = null
        from due d
        where a.consumer = d.consumer and a.event_id = d.event_id and not d.allowed),
      died as (
        insert into ${schema}.dead_letter (consumer, event_id, generation, type, reason, attempts,
          error_class, error_message, exchange, routing_key, headers, properties, body)
        select consumer, event_id, generation, type, 'retries_exhausted', attempts, error_class,
          error_message, exchange, routing_key, headers, properties, body
        from due where not allowed on conflict do nothing)
      select consumer, event_id, true as started, type, fence, attempts, retries, generation,
        suspect, batch, ordering_key, exchange, routing_key, headers, properties, body,
        null as dead_reason, null as dead_class, null as dead_message
      from started
      union all
      select consumer, event_id, false, type, fence, attempts, retries, generation, suspect, batch,
        ordering_key, null, null, null, null, null, 'retries_exhausted', error_class,
        error_message
      from due where not allowed
      """
          .formatted(history("d"), BATCH, CLAIM_BATCH);

  /** Appends the newest attempt of rows called {@code row}; the caller adds {@code from}. */
  static String history(String row) {
    return """
    insert into ${schema}.attempt (consumer, event_id, generation, fence, worker, started_at,
      ended_at, outcome, error_class, error_message, redelivered, phase, progress_seq)
    select R.consumer, R.event_id, R.generation, R.attempt_fence, R.owner, R.started_at,
      coalesce(R.ended_at, now()), coalesce(R.outcome, 'lease_lost'), R.error_class,
      R.error_message, coalesce(R.attempt_redelivered, false), R.phase, R.progress_seq
    """
        .replace("R.", row + ".");
  }
}
