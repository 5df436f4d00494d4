package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ActivityId;
import org.junit.jupiter.api.Test;

class ActiveJobsTest {
  private final ActivityId id = new ActivityId("q", "e1");
  private final ActiveJobs active = new ActiveJobs();

  @Test
  void twoRunsOfAnEventMayBeOutAtOnce() {
    active.leak(id);
    active.leak(id);
    active.returned(id);
    assertThat(active.leaks(id)).as("the other has not come back").isTrue();
    assertThat(active.busy(id)).isTrue();
    active.returned(id);
    assertThat(active.leaks(id)).isFalse();
    active.returned(id);
    assertThat(active.leaks(id)).isFalse();
  }

  @Test
  void aRunThatCouldNotBeStoredIsRememberedByItsFence() {
    active.notStored(id, 3);
    assertThat(active.unstored(id, 3)).isTrue();
    assertThat(active.unstored(id, 4)).as("another start").isFalse();
    active.decided(id);
    assertThat(active.unstored(id, 3)).isFalse();
  }
}
