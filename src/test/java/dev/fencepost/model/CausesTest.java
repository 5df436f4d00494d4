package dev.fencepost.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class CausesTest {
  private final IllegalStateException inner = new IllegalStateException("inner");

  /** A wrapper that somebody made, to say something by it. */
  private static final class Own extends CompletionException {
    private static final long serialVersionUID = 1L;

    Own(Throwable cause) {
      super("own", cause);
    }
  }

  @Test
  void whatTheJdkWrapsIsTakenOutHoweverDeep() {
    Throwable wrapped =
        new CompletionException(new ExecutionException(new InvocationTargetException(inner)));
    assertThat(Causes.unwrapped(wrapped)).isSameAs(inner);
    assertThat(Causes.unwrapped(inner)).isSameAs(inner);
  }

  @Test
  void whatSomebodyElseWrapsIsNot() {
    RuntimeException own = new Own(inner);
    assertThat(Causes.unwrapped(own)).isSameAs(own);
    RuntimeException plain = new RuntimeException(inner);
    assertThat(Causes.unwrapped(new CompletionException(plain))).isSameAs(plain);
  }

  @Test
  void aWrapperOfNothingStandsForItself() {
    Throwable empty = new InvocationTargetException(null);
    assertThat(Causes.unwrapped(empty)).isSameAs(empty);
  }

  @Test
  void causesThatGoRoundEnd() {
    IllegalStateException round = new IllegalStateException("round");
    ExecutionException other = new ExecutionException(round);
    round.initCause(other);
    assertThat(Causes.of(round)).startsWith(round, other).contains(round).hasSizeLessThan(100);
    assertThat(Causes.unwrapped(round)).isSameAs(round);
  }
}
