package dev.fencepost.pg;

/** Looks at the whole database at once, so that idle consumers need not ask one by one. */
final class PulseSql {
  /** Above so many due rows every consumer asks for itself. */
  static final int MANY = 500;

  private PulseSql() {}

  /** Who has rows that are due, for no longer than $1 milliseconds; and when the next ones are. */
  static final String DUE =
      """
      with due as materialized (
        select consumer from ${schema}.activity
        where next_attempt_at is not null and next_attempt_at <= now()
          and next_attempt_at > now() - $1::bigint * interval '1 millisecond'
        order by next_attempt_at limit %1$d)
      select array(select distinct consumer from due) as due,
        (select coalesce(sum(1), 0) >= %1$d from due) as many,
        (select ceil(extract(epoch from min(next_attempt_at) - now()) * 1000)::bigint
         from ${schema}.activity
         where next_attempt_at is not null and next_attempt_at > now()) as next_in
      """
          .formatted(MANY);

  /** Who has groups whose leases were to end by now, and who has rows that wait for what. */
  static final String STANDING =
      """
      with recursive waiting as (
        (select waits, consumer from ${schema}.activity where waits is not null
         order by waits, consumer limit 1)
        union all
        select n.waits, n.consumer from waiting w, lateral (
          select a.waits, a.consumer from ${schema}.activity a
          where a.waits is not null and (a.waits, a.consumer) > (w.waits, w.consumer)
          order by a.waits, a.consumer limit 1) n)
      select 'expired' as what, consumer
      from (select distinct consumer from ${schema}.claim_batch where until <= now()) b
      union all
      select waits, consumer from waiting
      """;

  /**
   * Who has activities claimed longer than $1 milliseconds ago: whether they may go is not asked.
   */
  static final String OLD =
      """
      with recursive known as (
        (select consumer from ${schema}.activity where batch is not null
         order by consumer, batch limit 1)
        union all
        select n.consumer from known k, lateral (
          select a.consumer from ${schema}.activity a
          where a.batch is not null and a.consumer > k.consumer
          order by a.consumer, a.batch limit 1) n)
      select consumer from known k
      where exists (select 1 from ${schema}.activity a where a.consumer = k.consumer
        and a.batch < ((extract(epoch from now()) * 1000000)::bigint - $1::bigint * 1000) * 1024)
      """;
}
