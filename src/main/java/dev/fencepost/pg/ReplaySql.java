package dev.fencepost.pg;

/** The statements of a replay. Copies carry the header {@code fencepost-replay}. */
final class ReplaySql {
  private ReplaySql() {}

  /** Where the retained rows begin and, now, end. */
  static final String FIRST =
      """
      select coalesce(min(f.seq), 1) - 1,
        (select case when is_called then last_value else 0 end from ${schema}.outbox_seq)
      from ${schema}.relay_leases l cross join lateral (
        select o.seq from ${schema}.outbox o where o.lane = l.lane order by o.seq limit 1) f
      """;

  static final String NOTED =
      "insert into ${schema}.audit (actor, action, evidence, detail) values ($1, $2, $3, $4)";

  private static final String PICKED =
      """
      with picked as materialized (
        select seq, event_id, exchange, routing_key, type, key, payload, content_type, headers,
          properties
        from ${schema}.outbox
        where lane = any(array(select lane from ${schema}.relay_leases)) and seq > $1 and seq <= $2
          and created_at >= $3 and ($4::timestamptz is null or created_at < $4)
          and ($5::text is null or exchange = $5) and ($6::text is null or type = $6)
          and not jsonb_exists(headers, 'fencepost-replay')
        order by seq limit $7)
      """;

  private static final String FOUND = "select count(*), coalesce(max(seq), 0)::bigint from picked";

  static final String FIND = PICKED + FOUND;

  static final String COPY =
      PICKED
          + """
          , copied as (
            insert into ${schema}.outbox
              (event_id, exchange, routing_key, type, key, payload, content_type, headers, properties)
            select event_id, exchange, routing_key, type, key, payload, content_type,
              headers || '{"fencepost-replay": true}', properties
            from picked order by seq)
          """
          + FOUND;
}
