package dev.fencepost.bench.peer;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** db-scheduler: a one-time task for each message, a receipt in each execution. */
public final class DbSchedulerWorker {

  private static final int THREADS = 20;

  private static final String TABLE =
      "create table if not exists scheduled_tasks (task_name text not null,"
          + " task_instance text not null, task_data bytea,"
          + " execution_time timestamp with time zone not null, picked boolean not null,"
          + " picked_by text, last_success timestamp with time zone,"
          + " last_failure timestamp with time zone, consecutive_failures int,"
          + " last_heartbeat timestamp with time zone, version bigint not null,"
          + " priority smallint, state text, primary key (task_name, task_instance))";

  private DbSchedulerWorker() {}

  public static void main(String[] arguments) throws Exception {
    HikariDataSource pool = Pool.autoCommit(arguments[0], THREADS + 4);
    JdbcTemplate jdbc = new JdbcTemplate(pool);
    jdbc.execute(TABLE);
    jdbc.execute(
        "create index if not exists execution_time_idx on scheduled_tasks (execution_time)");
    OneTimeTask<Void> task =
        Tasks.oneTime("receipt")
            .execute(
                (instance, context) ->
                    jdbc.update(
                        "insert into receipt (event_id) values (?) on conflict do nothing",
                        instance.getId()));
    Scheduler scheduler =
        Scheduler.create(pool, task)
            .threads(THREADS)
            .pollUsingLockAndFetch(4.0, 16.0)
            .pollingInterval(Duration.ofMillis(100))
            .build();
    scheduler.start();
    Intake.run(
        arguments[1],
        arguments[2],
        ids -> {
          List<TaskInstance<?>> tasks =
              ids.stream().<TaskInstance<?>>map(task::instance).toList();
          scheduler.scheduleBatch(tasks, Instant.now());
          scheduler.triggerCheckForDueExecutions();
        });
  }
}
