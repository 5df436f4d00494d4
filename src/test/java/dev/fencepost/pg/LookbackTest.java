package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LookbackTest {
  private static final long SECOND = 1_000_000_000L;

  private final Lookback lookback = new Lookback(Duration.ofSeconds(30));

  @Test
  void looksAtEverythingFirstAndThenAtWhatIsNew() {
    assertThat(lookback.span(0).all()).isTrue();
    assertThat(lookback.span(SECOND).all()).as("nothing has been seen yet").isTrue();
    lookback.done(lookback.span(2 * SECOND));
    Lookback.Span recent = lookback.span(5 * SECOND);
    assertThat(recent.all()).isFalse();
    assertThat(recent.millis()).as("since the last look, and a margin").isEqualTo(13_000);
  }

  @Test
  void whatALookLeftUnseenIsLookedAtAgain() {
    lookback.done(lookback.span(0));
    lookback.span(5 * SECOND); // was not complete
    assertThat(lookback.span(6 * SECOND).millis()).isEqualTo(16_000);
    lookback.done(lookback.span(6 * SECOND));
    assertThat(lookback.span(7 * SECOND).millis()).isEqualTo(11_000);
  }

  @Test
  void looksAtEverythingOnceInAWhile() {
    lookback.done(lookback.span(0));
    lookback.done(lookback.span(29 * SECOND));
    assertThat(lookback.span(30 * SECOND).all()).isTrue();
    lookback.done(lookback.span(30 * SECOND));
    assertThat(lookback.span(31 * SECOND).all()).isFalse();
  }
}
