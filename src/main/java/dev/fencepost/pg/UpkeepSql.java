package dev.fencepost.pg;

/** Statements beside the way of an event: poison, unknown types, counts, retention. */
final class UpkeepSql {
  private UpkeepSql() {}

  /** Answers with a row where this is what wrote the dead letter. */
  static final String POISON =
      """
      with stored as (
        insert into ${schema}.activity (consumer, event_id, type, state, keep, finished_at,
          error_class, error_message)
        values ($1, $2, $3, 'dead', true, now(), $4, $5)
        on conflict do nothing returning consumer, event_id, generation)
      insert into ${schema}.dead_letter (consumer, event_id, generation, type, reason, attempts,
        error_class, error_message, error_cause, exchange, routing_key, headers, properties, body)
      select consumer, event_id, generation, $3, 'poison_message', 1, $4, $5, $6, $7, $8, $9::jsonb,
        $10::jsonb, $11
      from stored on conflict do nothing
      returning id
      """;

  /** Unresolved rows of types that are known now are due. */
  static final String RESOLVE =
      """
      update ${schema}.activity a set state = 'retry_scheduled', waits = null,
        next_attempt_at = now()
      from (
        select consumer, event_id from ${schema}.activity
        where consumer = $1 and waits = 'unresolved' and type = any($2)
        order by first_seen_at limit $3 for update skip locked) u
      where a.consumer = u.consumer and a.event_id = u.event_id and a.state = 'unresolved'
      returning a.event_id
      """;

  /** Those that nobody has known for too long are poison. */
  static final String GIVE_UP =
      """
      with old as materialized (
        select *, 'no worker knows the type ' || coalesce(type, '') as why
        from ${schema}.activity
        where consumer = $1 and waits = 'unresolved' and type <> all($2)
          and first_seen_at < now() - $4::bigint * interval '1 millisecond'
        order by first_seen_at limit $3 for update skip locked),
      dead as (
        update ${schema}.activity a set state = 'dead', waits = null, live_key = null, keep = true,
          finished_at = now(),
          exchange = null, routing_key = null, headers = null, properties = null, body = null
        from old o where a.consumer = o.consumer and a.event_id = o.event_id
        returning a.consumer, a.event_id, a.ordering_key, a.type, o.why),
      died as (
        insert into ${schema}.dead_letter (consumer, event_id, generation, type, reason, attempts,
          error_class, error_message, exchange, routing_key, headers, properties, body)
        select consumer, event_id, generation, type, 'poison_message', 1, 'unknown_type', why,
          exchange, routing_key, headers, properties, body
        from old on conflict do nothing)
      select consumer, event_id, ordering_key, type, 1 as attempts,
        'poison_message' as dead_reason, 'unknown_type' as dead_class, why as dead_message
      from dead
      """;

  /** Dead letters to copy, out of anybody else's reach for $2 ms. */
  static final String UNCOPIED =
      """
      with next as materialized (
        select id from ${schema}.dead_letter
        where consumer = $1 and copy_due <= now() and body is not null
          and dead_at > now() - $3::bigint * interval '1 millisecond'
        order by dead_at limit $4 for update skip locked)
      update ${schema}.dead_letter d set copy_due = now() + $2::bigint * interval '1 millisecond'
      from next n where d.id = n.id
      returning d.id, d.consumer, d.event_id, d.reason, d.exchange, d.routing_key, d.headers,
        d.properties, d.body
      """;

  static final String COPIED =
      "update ${schema}.dead_letter set copy_due = null where id = any($1)";

  static final String HAS_DUE =
      """
      select exists (select 1 from ${schema}.activity d
        where d.consumer = $1 and d.type = $2 and d.next_attempt_at is not null
          and d.next_attempt_at <= now() and not d.suspect) as due
      """;

  static final String AUDIT =
      """
      insert into ${schema}.audit (actor, action, consumer, event_id, generation, fence, evidence,
        detail)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      """;

  /**
   * Adds first starts ($3) to the seconds in which they began, by their age, and retries to the
   * current one; gives the sums of the window ($5 seconds). Rows are locked in the order of time.
   */
  static final String COUNT_STARTS =
      """
      with now_second as materialized (
        select floor(extract(epoch from clock_timestamp()))::bigint as second),
      added as (
        insert into ${schema}.start_window (consumer, type, second, first_starts, retries)
        select $1, $2, n.second - s.ord + 1, s.first_starts, case when s.ord = 1 then $4 else 0 end
        from now_second n, unnest($3::bigint[]) with ordinality s(first_starts, ord)
        where s.ord = 1 or s.first_starts > 0
        order by s.ord desc
        on conflict (consumer, type, second) do update set
          first_starts = start_window.first_starts + excluded.first_starts,
          retries = start_window.retries + excluded.retries
        returning second, first_starts, retries),
      forgotten as (
        delete from ${schema}.start_window w using now_second n
        where w.consumer = $1 and w.type = $2 and w.second < n.second - 60)
      select sum(w.first_starts)::bigint as first_starts, sum(w.retries)::bigint as retries,
        n.second
      from now_second n, (
        select second, first_starts, retries from added
        union all
        select o.second, o.first_starts, o.retries from now_second n, ${schema}.start_window o
        where o.consumer = $1 and o.type = $2 and o.second > n.second - $5
          and not exists (select 1 from added a where a.second = o.second)) w
      where w.second > n.second - $5 and w.second <= n.second
      group by n.second
      """;

  /** Where they were counted: a later second would make room for others once that one is over. */
  static final String UNCOUNT_RETRIES =
      """
      update ${schema}.start_window set retries = retries - $4
      where consumer = $1 and type = $2 and second = $3
      """;

  static final String OPEN_REVIEWS =
      """
      select coalesce(sum(1), 0)::bigint as open from (
        select 1 from ${schema}.activity where consumer = $1 and waits = 'manual_review'
        limit 10000) r
      """;

  /** Plainly completed work, oldest claims first. */
  static final String PURGE =
      """
      with old as materialized (
        select consumer, event_id from ${schema}.activity
        where consumer = $1
          and batch < ((extract(epoch from now()) * 1000000)::bigint - $2::bigint * 1000) * 1024
          and state = 'completed' and not keep and kind is distinct from 'irreversible'
          and finished_at < now() - $2::bigint * interval '1 millisecond'
        order by batch limit $3 for update skip locked),
      attempts as (
        delete from ${schema}.attempt t using old o
        where t.consumer = o.consumer and t.event_id = o.event_id),
      receipts as (
        delete from ${schema}.receipt t using old o
        where t.consumer = o.consumer and t.event_id = o.event_id),
      gone as (
        delete from ${schema}.activity a using old o
        where a.consumer = o.consumer and a.event_id = o.event_id returning 1)
      select coalesce(sum(1), 0)::bigint as purged from gone
      """;
}
