package dev.fencepost.pg;

/** What a server does with what has been committed. */
final class DurabilitySql {
  private DurabilitySql() {}

  /**
   * Any role may read it. A standby that is away is known by its slot; backups and readers of
   * logical changes are no standbys.
   */
  static final String STANDBYS =
      """
      select current_setting('fsync') = 'on' as fsync,
        btrim(current_setting('synchronous_standby_names')) <> '' as synchronous,
        exists (
          select 1 from pg_stat_replication r
          where r.state is distinct from 'backup' and not exists (
            select 1 from pg_replication_slots s
            where s.slot_type = 'logical' and s.active_pid = r.pid))
        or exists (
          select 1 from pg_replication_slots where slot_type = 'physical' and not temporary)
        as standbys
      """;
}
