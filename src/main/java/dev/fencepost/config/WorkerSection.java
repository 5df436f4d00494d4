package dev.fencepost.config;

import static dev.fencepost.config.Values.between;

import dev.fencepost.config.FencepostConfig.Worker;
import java.time.Duration;

/** Reads {@code worker}. */
final class WorkerSection {
  private WorkerSection() {}

  static Worker read(Section section) {
    Values values = new Values(section);
    boolean enabled = values.flag("enabled", true);
    Section pool = section.child("pool");
    int poolSize = new Values(pool).whole("size", 32, between(1, 4_096));
    pool.close();
    Duration deadline =
        values.duration("shutdown-deadline", Duration.ofSeconds(30), between("0s", "1d"));
    Duration sweep = values.duration("sweep-every", Duration.ofSeconds(5), between("10ms", "1h"));
    Duration unknown =
        values.duration("unknown-type-after", Duration.ofHours(24), between("1s", "365d"));
    Section retention = section.child("retention");
    Duration receipts =
        new Values(retention).duration("receipts", Duration.ofDays(7), between("1s", "3650d"));
    retention.close();
    section.close();
    return new Worker(enabled, poolSize, deadline, sweep, unknown, receipts);
  }
}
