package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.RetryBudget;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A remote that is away is not called the more often the more processes there are. */
@Timeout(180)
class RetryBudgetIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);
  private static final String QUEUE = "budget";
  private static final int EVENTS = 200;

  /**
   * At each retry: how many there were within 8 s before it, and how many the budget allows for its
   * 10 whole seconds, counted generously at both ends.
   */
  private static final String WINDOWS =
      """
      with starts as (
        select started_at as at, worker,
          row_number() over (partition by event_id order by fence) > 1 as retry
        from fencepost.attempts)
      select coalesce(max(w.retries - (%s * w.firsts + %s * %s)), -1000)::int from (
        select count(*) filter (where o.retry and o.at > s.at - interval '8s') as retries,
          count(*) filter (where not o.retry) as firsts
        from (select distinct at from starts where retry) s join starts o
          on o.at <= s.at and o.at > s.at - interval '12s'
        group by s.at) w
      """
          .formatted(BudgetWorker.RATIO, BudgetWorker.PER_SECOND, RetryBudget.WINDOW.toSeconds());

  private final String database = WorkerProcess.database();
  private final String broker = TestServers.broker().newVhost();
  private Remote remote;

  private long retries() {
    return remote.number("select coalesce(sum(attempts - 1), 0) from fencepost.activities");
  }

  @Test
  void twoProcessesTogetherStayWithinTheBudgetOfTheType() throws Exception {
    remote = new Remote(database);
    try (Publishing publishing = new Publishing(broker)) {
      publishing.declare(QUEUE);
      for (int i = 0; i < EVENTS; i++) {
        publishing.send(QUEUE, BudgetWorker.TYPE, "e" + i);
      }
      publishing.confirmed();
    }
    int enough = (int) (BudgetWorker.PER_SECOND * RetryBudget.WINDOW.toSeconds() * 2);
    try (ServiceProcess one =
            ServiceProcess.start(BudgetWorker.class, "one", database, broker, QUEUE);
        ServiceProcess two =
            ServiceProcess.start(BudgetWorker.class, "two", database, broker, QUEUE)) {
      one.awaitLine("started one", DEADLINE);
      two.awaitLine("started two", DEADLINE);
      Await.until("they go on, within the budget", DEADLINE, () -> retries() >= enough);
      Await.until(
          "both retry",
          DEADLINE,
          () ->
              remote.number(
                      "select count(distinct worker) from fencepost.attempts a where exists ("
                          + "select 1 from fencepost.attempts b where b.event_id = a.event_id"
                          + " and b.fence < a.fence)")
                  == 2);
    }
    assertThat(remote.number("select count(*) from fencepost.activities")).isEqualTo(EVENTS);
    assertThat(remote.number(WINDOWS))
        .as("retries above the budget in any window")
        .isLessThanOrEqualTo(2);
    assertThat(remote.number("select count(*) from fencepost.dead_letters"))
        .as("a denied retry burns nothing")
        .isZero();
  }
}
