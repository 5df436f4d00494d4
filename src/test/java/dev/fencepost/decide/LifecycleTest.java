package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Lifecycle.Mover;
import dev.fencepost.model.ActivityState;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class LifecycleTest {
  @Test
  void nothingInTheBackgroundMovesAReview() {
    assertThat(Lifecycle.next(ActivityState.MANUAL_REVIEW, Mover.BACKGROUND)).isEmpty();
    assertThat(Lifecycle.next(ActivityState.MANUAL_REVIEW, Mover.OWNER)).isEmpty();
    assertThat(Lifecycle.next(ActivityState.MANUAL_REVIEW, Mover.OPERATOR)).isNotEmpty();
  }

  @Property
  void noWalkInTheBackgroundLeavesAReviewOrAnEnd(
      @ForAll ActivityState from, @ForAll Mover mover, @ForAll int choice) {
    if (mover != Mover.OPERATOR
        && (Lifecycle.terminal(from) || from == ActivityState.MANUAL_REVIEW)) {
      assertThat(Lifecycle.next(from, mover)).isEmpty();
    }
    assertThat(Lifecycle.next(from, mover)).doesNotContain(from);
  }
}
