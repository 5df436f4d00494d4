package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

class OutageTest {
  private final Outage outage = new Outage();

  @Test
  void warnsOnceAndSaysEachOtherReasonOnce() {
    assertThat(outage.level("lost")).isEqualTo(Level.WARN);
    for (int tries = 0; tries < 3; tries++) {
      boolean first = tries == 0;
      assertThat(outage.level("a refuses")).isEqualTo(first ? Level.INFO : Level.DEBUG);
      assertThat(outage.level("b refuses")).isEqualTo(first ? Level.INFO : Level.DEBUG);
      assertThat(outage.level("lost")).isEqualTo(Level.DEBUG);
    }
    outage.over();
    assertThat(outage.level("lost")).as("a new one").isEqualTo(Level.WARN);
  }

  @Test
  void reasonsWithoutEndAreNotRememberedForEver() {
    for (int i = 0; i < 1000; i++) {
      outage.level("from port " + i);
    }
    assertThat(outage.level("from port 1000")).isEqualTo(Level.DEBUG);
  }
}
