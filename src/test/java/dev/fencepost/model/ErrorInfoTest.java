package dev.fencepost.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.PermanentFailure;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is shown as the class of a failure is part of the product, not of its code. */
class ErrorInfoTest {
  @ParameterizedTest
  @EnumSource(RunEvent.class)
  void whatWeHaveMetOurselvesHasTheWordOfTheTable(RunEvent event) {
    RunFailure failure = new RunFailure(event, "said", null, null) {};
    assertThat(ErrorInfo.of(failure)).isEqualTo(new ErrorInfo(event.wire(), "said", null));
  }

  @ParameterizedTest
  @EnumSource(FailureKind.class)
  void aFailureOfOursHasItsKind(FailureKind kind) {
    FencepostException cause = new FencepostException(kind, "gone");
    assertThat(ErrorInfo.of(new FencepostException(kind, "said", cause)))
        .isEqualTo(new ErrorInfo(kind.wire(), "said", kind.wire() + ": gone"));
  }

  @Test
  void whatWasGivenUpBeforeItsCallSaysSo() {
    assertThat(ErrorInfo.of(new NotStarted("away", java.time.Duration.ZERO, null)).errorClass())
        .isEqualTo("not_started");
  }

  @Test
  void whatAUsersHandlerFailedWithIsNamed() {
    assertThat(ErrorInfo.of(new PermanentFailure("no", new IOException("cut"))))
        .isEqualTo(
            new ErrorInfo("dev.fencepost.api.PermanentFailure", "no", "java.io.IOException: cut"));
  }

  @Test
  void whatCannotSayWhatItIsIsNamedAllTheSame() {
    RuntimeException mute =
        new RuntimeException() {
          @Override
          public String getMessage() {
            throw new NoClassDefFoundError("message");
          }

          @Override
          public String toString() {
            throw new IllegalStateException("string");
          }

          @Override
          public Throwable getCause() {
            throw new IllegalStateException("cause");
          }
        };
    String name = mute.getClass().getName();
    assertThat(ErrorInfo.of(mute)).isEqualTo(new ErrorInfo(name, "message unavailable", null));
    assertThat(ErrorInfo.of(new PermanentFailure("no", mute)).cause())
        .isEqualTo(name + ": message unavailable");
  }
}
