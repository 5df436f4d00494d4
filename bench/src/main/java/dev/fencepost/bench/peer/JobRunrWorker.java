package dev.fencepost.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.scheduling.BackgroundJob;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/** JobRunr: a job for each message, a receipt in each job. */
public final class JobRunrWorker {

  private static final int WORKERS = 20;

  private static JdbcTemplate jdbc;

  private JobRunrWorker() {}

  /** The job; JobRunr finds it by name. */
  public static void receipt(String eventId) {
    jdbc.update("insert into receipt (event_id) values (?) on conflict do nothing", eventId);
  }

  public static void main(String[] arguments) throws Exception {
    HikariDataSource pool = Pool.autoCommit(arguments[0], WORKERS + 4);
    jdbc = new JdbcTemplate(pool);
    JobRunr.configure()
        .useStorageProvider(new PostgresStorageProvider(pool))
        .useBackgroundJobServer(
            BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                .andWorkerCount(WORKERS)
                .andPollIntervalInSeconds(5))
        .initialize();
    Intake.run(
        arguments[1],
        arguments[2],
        ids -> BackgroundJob.enqueue(ids.stream(), id -> receipt(id)));
  }
}
