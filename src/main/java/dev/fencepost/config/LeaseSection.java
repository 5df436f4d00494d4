package dev.fencepost.config;

import dev.fencepost.config.FencepostConfig.LeaseTimes;
import dev.fencepost.config.Values.Range;
import java.time.Duration;

/** Reads a {@code lease}; the relay's lanes and the activities have one each. */
final class LeaseSection {
  private static final int RENEWALS_PER_TTL = 3;
  private static final Range<Duration> RANGE = Values.between("10ms", "30d");

  private LeaseSection() {}

  /** Two renewals may be missed: {@code renew-every} is at most a third of {@code ttl}. */
  static LeaseTimes read(Section section, LeaseTimes standard) {
    Values values = new Values(section);
    Duration ttl = values.duration("ttl", standard.ttl(), RANGE);
    Duration most = Duration.ofMillis(ttl.toMillis() / RENEWALS_PER_TTL);
    Duration preset = most.compareTo(standard.renewEvery()) < 0 ? most : standard.renewEvery();
    Duration renewEvery = values.duration("renew-every", preset, RANGE);
    if (section.sound("ttl", "renew-every") && renewEvery.compareTo(most) > 0) {
      section.fault(
          "renew-every",
          DurationText.format(renewEvery)
              + " is more than a third of ttl "
              + DurationText.format(ttl),
          "at most " + DurationText.format(most));
    }
    section.close();
    return new LeaseTimes(ttl, renewEvery);
  }
}
