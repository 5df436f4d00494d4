package dev.fencepost.pg;

/** Statements of the transactions in which effects run. */
final class EffectSql {
  private EffectSql() {}

  /** $1 milliseconds: a dead host must not hold locks for hours. */
  static final String SETTINGS =
      """
      select set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '2s', true),
        set_config('statement_timeout', $1::text, true),
        set_config('idle_in_transaction_session_timeout', $1::text, true)
      """;

  /** For the handlers' statements: what they lock is theirs to wait for. */
  static final String HANDLERS = "select set_config('lock_timeout', '0', true)";

  /**
   * For the rows that the handlers' outcomes change, found by key in a table that may have outgrown
   * its statistics, by plans that are made once in a session.
   */
  static final String OUTCOMES_AHEAD =
      """
      select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true)
      """;

  /**
   * Rows as they will be once the transaction commits: started, done, with their receipts; fails
   * where an event is not new.
   */
  static final String INSERT_NEW =
      """
      insert into ${schema}.activity (consumer, event_id, type, kind, state, attempts, redeliveries,
        max_retries, max_attempts, fence, batch, owner, attempt_fence, started_at, ended_at,
        finished_at, attempt_redelivered, outcome, receipt_outcome, receipt_fence, receipt_at,
        ordering_key, arrival)
      select %3$s, r.event_id, %4$s, %5$s, 'completed', 1, coalesce(r.redelivered, false)::int,
        %6$s, %7$s, 1, %1$s, $1, 1, now(), now(), now(), coalesce(r.redelivered, false),
        'succeeded', 'succeeded', 1, now(), r.key,
        case when r.key is not null then nextval('${schema}.activity_arrival') end
      from %2$s
      """
          .formatted(
              ClaimSql.BATCH,
              ClaimSql.FIRSTS,
              ClaimSql.ofWork(2, "text"),
              ClaimSql.ofWork(3, "text"),
              ClaimSql.ofWork(4, "text"),
              ClaimSql.ofWork(5, "bigint"),
              ClaimSql.ofWork(6, "bigint"));

  /** The same, which leaves rows that exist alone. */
  static final String INSERT = INSERT_NEW + " on conflict do nothing returning consumer, event_id";

  /** The same for one that was claimed: its row stays locked, which is the fence. */
  static final String COMPLETE =
      """
      update ${schema}.activity set
        state = 'completed', live_key = null, finished_at = now(), ended_at = now(), outcome = 'succeeded',
        receipt_outcome = 'succeeded', receipt_fence = coalesce(receipt_fence, fence),
        receipt_at = coalesce(receipt_at, now()), batch = case when keep then null else batch end
      where consumer = $2 and event_id = $3 and owner = $1 and fence = $4 and state = 'running'
        and receipt_outcome is distinct from 'failed_permanent'
      returning ordering_key
      """;

  /** How the start under this fence was committed; nothing where it was not. */
  static final String APPLIED =
      """
      select state from ${schema}.activity
      where consumer = $2 and event_id = $3 and owner = $1 and attempt_fence = $4
        and outcome in ('succeeded', 'permanent_failure') and state in ('completed', 'dead')
      """;

  /** Receipts with a body. */
  static final String BODIES =
      """
      update ${schema}.activity a set receipt_body = s.body
      from unnest($1::text[], $2::text[], $3::text[]) s(consumer, event_id, body)
      where a.consumer = s.consumer and a.event_id = s.event_id
      """;

  /**
   * Failed for good, as a receipt says (its outcome in $3) or by the handler's own failure: dead
   * after all, with a dead letter each.
   */
  static final String FAILED =
      """
      with s as (
        select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
          $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bytea[])
          s(consumer, event_id, receipt, receipt_body, error_class, error_message, error_cause,
            exchange, routing_key, headers, properties, body)),
      found as materialized (
        select s.receipt, s.receipt_body as r_body, s.error_class as d_class,
          s.error_message as d_message, s.error_cause as d_cause, a.*,
          coalesce(a.body, s.body) as m_body,
          case when a.body is null then s.exchange else a.exchange end as m_exchange,
          case when a.body is null then s.routing_key else a.routing_key end as m_routing_key,
          case when a.body is null then s.headers::jsonb else a.headers end as m_headers,
          case when a.body is null then s.properties::jsonb else a.properties end as m_properties
        from s join ${schema}.activity a on a.consumer = s.consumer and a.event_id = s.event_id),
      died as (
        insert into ${schema}.dead_letter (consumer, event_id, generation, type, reason, attempts,
          error_class, error_message, error_cause, exchange, routing_key, headers, properties, body)
        select consumer, event_id, generation, type, 'permanent_failure', attempts, d_class,
          d_message, d_cause, m_exchange, m_routing_key, m_headers, m_properties, m_body
        from found on conflict do nothing)
      update ${schema}.activity a set state = 'dead', live_key = null, keep = true, batch = null,
        outcome = 'permanent_failure', error_class = f.d_class, error_message = f.d_message,
        receipt_outcome = f.receipt, receipt_body = f.r_body,
        receipt_fence = case when f.receipt is not null then a.receipt_fence end,
        receipt_at = case when f.receipt is not null then a.receipt_at end
      from found f where a.consumer = f.consumer and a.event_id = f.event_id
      """;

  /** Rows that this transaction inserted and that are not to be in it after all. */
  static final String WITHDRAW =
      """
      delete from ${schema}.activity a using unnest($1::text[], $2::text[]) s(consumer, event_id)
      where a.consumer = s.consumer and a.event_id = s.event_id
      """;

  /** The message of a retried effect is not needed once it is done. */
  static final String FORGET =
      """
      update ${schema}.activity set exchange = null, routing_key = null, headers = null,
        properties = null, body = null
      where consumer = $1 and event_id = $2 and body is not null
      """;
}
