package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who is convicted when the broker closes the channel of suspects. */
class QuarantineTest {
  private final Vertx vertx = Vertx.vertx();
  private final HandPublisher broker = new HandPublisher();
  private final Quarantine quarantine =
      new Quarantine(
          vertx, broker, HandPublisher.lane(), Quarantine.Kind.SUSPECTS, Duration.ofSeconds(30));

  @AfterEach
  void close() {
    Await.result(vertx.close());
  }

  private Future<Publisher.Verdict> attempt(long seq, boolean alone) {
    return quarantine.attempt(HandPublisher.row(seq, "x", "r"), alone);
  }

  @Test
  void whoWasOutAloneIsConvicted() {
    Future<Publisher.Verdict> one = attempt(1, true);
    broker.refuse(ParkedReason.ACCESS_REFUSED);
    assertThat(one.result().refusal()).isEqualTo(ParkedReason.ACCESS_REFUSED);
  }

  /** It has no property that the broker checks. */
  @Test
  void whatTheBrokerClosesForIsTheSizeButWhatWeRefuseIsWhatWeSay() {
    Future<Publisher.Verdict> closed = attempt(1, true);
    broker.refuse(ParkedReason.INVALID_PROPERTY);
    assertThat(closed.result().refusal()).isEqualTo(ParkedReason.TOO_LARGE);
    Future<Publisher.Verdict> ours = attempt(2, true);
    broker.refuseOne(2, ParkedReason.INVALID_PROPERTY);
    assertThat(ours.result().refusal()).isEqualTo(ParkedReason.INVALID_PROPERTY);
  }

  /** The one that was withdrawn may have been guilty. */
  @Test
  void whoWasOutWithOneThatIsWithdrawnByNowIsTriedAlone() {
    Future<Publisher.Verdict> first = attempt(1, true);
    Future<Publisher.Verdict> guilty = attempt(2, false);
    Future<Publisher.Verdict> innocent = attempt(3, false);
    broker.confirm(1);
    assertThat(first.succeeded()).isTrue();
    assertThat(broker.written).containsExactly(List.of(1L), List.of(2L, 3L));

    quarantine.withdraw(2);
    broker.refuse(ParkedReason.INVALID_PROPERTY);
    assertThat(guilty.failed()).as("it is not to be sent any more").isTrue();
    assertThat(innocent.isComplete()).as("it is convicted").isFalse();
    assertThat(broker.written).endsWith(List.of(3L));
    broker.confirm(3);
    assertThat(innocent.result().refusal()).isNull();
  }

  @Test
  void whoIsWithdrawnIsNotConvictedEither() {
    Future<Publisher.Verdict> one = attempt(1, true);
    quarantine.withdraw(1);
    broker.refuse(ParkedReason.INVALID_PROPERTY);
    assertThat(one.failed()).isTrue();
    assertThat(broker.written).containsExactly(List.of(1L));
  }
}
