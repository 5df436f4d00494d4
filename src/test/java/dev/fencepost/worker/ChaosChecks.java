package dev.fencepost.worker;

import org.assertj.core.api.SoftAssertions;

/**
 * What must be true once every event of a {@link ChaosIT} run has ended; each query finds faults.
 */
final class ChaosChecks {
  private final Remote remote;
  private final SoftAssertions soft = new SoftAssertions();

  private ChaosChecks(Remote remote) {
    this.remote = remote;
  }

  static void all(Remote remote) {
    ChaosChecks checks = new ChaosChecks(remote);
    checks.report();
    checks.effects();
    checks.states();
    checks.deadLetters();
    checks.takeovers();
    checks.attempts();
    checks.soft.assertAll();
  }

  /** For the reader: how the run went. */
  private void report() {
    say("states", "select kind || ' ' || state, count(*) from fencepost.activities group by 1");
    say("attempts", "select outcome, count(*) from fencepost.attempts group by 1");
    say("starts", "select attempts || '×', count(*) from fencepost.activities group by 1");
    say(
        "takeovers",
        "select substring(detail from 'decision=.*'), count(*) from fencepost.audit_log where action"
            + " = 'takeover' group by 1");
    say("dead letters", "select reason, count(*) from fencepost.dead_letters group by 1");
  }

  private void say(String what, String groups) {
    System.out.println(
        "chaos: "
            + what
            + ": "
            + remote.ask(
                "select string_agg(what || ' ' || n, ', ' order by what) from ("
                    + groups
                    + ") g(what, n)"));
  }

  /** The query returns event ids; there must be none. */
  private void none(String fault, String query) {
    soft.assertThat(
            remote.ask(
                "select count(*) || ': ' || string_agg(event_id, ', ') from (select event_id, count(*)"
                    + " over () n from ("
                    + query
                    + ") q limit 10) faults having count(*) > 0"))
        .as(fault)
        .isNull();
  }

  private void effects() {
    none("not applied exactly once, or though it failed", applied("effect", "effect"));
    none("idempotent, not applied exactly once", applied("remote_effect", "idempotent"));
    none(
        "irreversible, called more than once, or though it failed",
        "select event_id from expected e left join remote_call c using (event_id) where kind ="
            + " 'irreversible' group by event_id, fate having count(c.event_id) > (fate ="
            + " 'succeeds')::int");
    none(
        "said to be completed, and never happened",
        "select event_id from fencepost.activities a where state = 'completed' and kind <> 'effect'"
            + " and not exists (select 1 from remote_effect r where r.event_id = a.event_id)");
    none(
        "queryable, happened twice",
        "select event_id from expected join remote_effect using (event_id) where kind = 'queryable'"
            + " group by 1 having count(*) > 1");
  }

  private static String applied(String table, String kind) {
    return "select event_id from expected e left join "
        + table
        + " x using (event_id) where kind = '"
        + kind
        + "' group by event_id, fate having count(x.event_id) <> (fate = 'succeeds')::int";
  }

  private void states() {
    none(
        "has not ended as it must",
        "select event_id from expected e left join fencepost.activities a using (event_id) where"
            + " fate <> 'unreadable' and a.state is distinct from case fate when 'succeeds' then"
            + " 'completed' else 'dead' end and not (e.kind in ('irreversible', 'queryable') and"
            + " a.state is not distinct from 'manual_review')");
    none(
        "in review, though somebody knows how it ended",
        "select event_id from fencepost.activities a where state = 'manual_review' and (exists"
            + " (select 1 from fencepost.receipts r where r.event_id = a.event_id) or not exists"
            + " (select 1 from fencepost.attempts t where t.event_id = a.event_id and "
            + UNDECIDED
            + "))");
    none(
        "irreversible and undecided, and not in review",
        "select event_id from fencepost.activities a where kind = 'irreversible' and state <>"
            + " 'manual_review' and exists (select 1 from fencepost.attempts t where t.event_id ="
            + " a.event_id and "
            + UNDECIDED
            + ")");
  }

  private static final String UNDECIDED = "t.outcome in ('lease_lost', 'unknown', 'timed_out')";

  private void deadLetters() {
    none(
        "failed, and has not exactly one dead letter",
        "select event_id from fencepost.activities a left join fencepost.dead_letters d using"
            + " (consumer, event_id) where a.state = 'dead' group by 1 having count(d.id) <> 1");
    none(
        "has a dead letter, and has not failed",
        "select event_id from fencepost.dead_letters d left join fencepost.activities a using"
            + " (consumer, event_id) where a.state is distinct from 'dead'");
    none(
        "its dead letter says something else",
        "select event_id from expected e join fencepost.dead_letters d using (event_id) where"
            + " convert_from(d.body, 'UTF8') <> e.body or d.type <> e.kind or d.reason <> case fate"
            + " when 'refused' then 'permanent_failure' else 'retries_exhausted' end");
    none(
        "unreadable, and has not exactly one dead letter",
        "select e.event_id from expected e left join fencepost.dead_letters d on d.reason ="
            + " 'poison_message' and convert_from(d.body, 'UTF8') = e.body where fate ="
            + " 'unreadable' group by 1 having count(d.id) <> 1");
  }

  /**
   * Each line of a takeover names a start that stands among the attempts as lost or superseded, of
   * the owner it was taken from; or as without an answer, which has raised the fence itself; or a
   * probe, which is no start, by an earlier line.
   */
  private void takeovers() {
    String lines =
        "(select event_id, substring(detail from 'from=([^ ]*)') as owner, substring(detail from"
            + " 'fence=([0-9]+)->')::bigint as fence, substring(detail from '->([0-9]+)')::bigint as"
            + " raised, substring(detail from 'decision=(.*)') as decision from"
            + " fencepost.audit_log where action = 'takeover')";
    none(
        "taken over, and no attempt explains it",
        "select event_id from "
            + lines
            + " l where not exists (select 1 from fencepost.attempts t where t.event_id ="
            + " l.event_id and t.worker = l.owner and (t.fence = l.fence and t.outcome in"
            + " ('lease_lost', 'superseded') or t.fence = l.fence - 1 and t.outcome in ('unknown',"
            + " 'timed_out'))) and not exists (select 1 from "
            + lines
            + " p where p.event_id = l.event_id and p.raised = l.fence and p.decision = 'probe')");
    none(
        "an attempt was lost, and nobody took it over",
        "select event_id from fencepost.attempts t where outcome = 'lease_lost' and not exists"
            + " (select 1 from "
            + lines
            + " l where l.event_id = t.event_id and l.fence = t.fence)");
    none(
        "taken over twice from one fence",
        "select event_id from " + lines + " l group by event_id, fence having count(*) > 1");
  }

  private void attempts() {
    none(
        "a call that no attempt accounts for",
        "select event_id from remote_call c where not exists (select 1 from fencepost.attempts t"
            + " where t.event_id = c.event_id and t.fence = c.fence)");
    none(
        "an attempt that never ended",
        "select event_id from fencepost.attempts where ended_at is null or outcome is null");
    none(
        "starts that are not the attempts",
        "select a.event_id from fencepost.activities a left join fencepost.attempts t on t.event_id"
            + " = a.event_id and t.outcome <> 'interrupted' where a.type is not null group by"
            + " a.event_id, a.attempts having a.attempts <> count(t.fence)");
  }
}
