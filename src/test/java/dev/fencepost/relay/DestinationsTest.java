package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.OutboxRow.Route;
import dev.fencepost.model.ParkedReason;
import org.junit.jupiter.api.Test;

/** How much of an exchange is held back when it refuses a row. */
class DestinationsTest {
  private static final Route SHUT = new Route("x", "shut");
  private static final Route OPEN = new Route("x", "open");

  private final Destinations destinations = new Destinations(RelayConfigs.LIMITS);

  @Test
  void theWholeExchangeUntilAnotherRoutingKeyGetsThrough() {
    destinations.refuse(SHUT, ParkedReason.ACCESS_REFUSED);
    assertThat(destinations.refusal(OPEN)).isEqualTo(ParkedReason.ACCESS_REFUSED);

    destinations.accept(OPEN);
    assertThat(destinations.refusal(OPEN)).isNull();
    assertThat(destinations.refusal(SHUT)).isEqualTo(ParkedReason.ACCESS_REFUSED);

    destinations.refuse(SHUT, ParkedReason.ACCESS_REFUSED);
    assertThat(destinations.refusal(OPEN)).isNull();
    destinations.accept(SHUT);
    assertThat(destinations.refusal(SHUT)).isNull();
  }

  @Test
  void theWholeAgainWhenManyInARowAreRefused() {
    destinations.refuse(SHUT, ParkedReason.ACCESS_REFUSED);
    destinations.accept(OPEN);
    for (int i = 0; i < 5; i++) {
      destinations.refuse(new Route("x", "other" + i), ParkedReason.ACCESS_REFUSED);
      assertThat(destinations.refusal(OPEN)).as("after %s", i).isNull();
    }
    destinations.refuse(new Route("x", "other5"), ParkedReason.ACCESS_REFUSED);
    assertThat(destinations.refusal(OPEN)).isEqualTo(ParkedReason.ACCESS_REFUSED);
  }

  @Test
  void aMissingExchangeIsMissingForAllOfItsRoutingKeys() {
    destinations.refuse(SHUT, ParkedReason.EXCHANGE_MISSING);
    assertThat(destinations.refusal(OPEN)).isEqualTo(ParkedReason.EXCHANGE_MISSING);
    assertThat(destinations.refusal(new Route("y", "shut"))).isNull();
    destinations.accept(OPEN);
    assertThat(destinations.refusal(SHUT)).isNull();
    assertThat(destinations.none()).isTrue();
  }

  @Test
  void whatIsKnownOfATakenLaneIsNoRoutingKey() {
    destinations.refuse("x", ParkedReason.ACCESS_REFUSED);
    assertThat(destinations.refusal(SHUT)).isEqualTo(ParkedReason.ACCESS_REFUSED);
    destinations.accept(OPEN);
    assertThat(destinations.refusal(SHUT)).isNull();
    destinations.refuse(SHUT, ParkedReason.ACCESS_REFUSED);
    assertThat(destinations.refusal(OPEN)).isNull();
  }

  @Test
  void aRoutingKeyThatWasTakenProvesNoOtherInnocent() {
    assertThat(Destinations.alike(ParkedReason.ACCESS_REFUSED, OPEN, SHUT)).isFalse();
    assertThat(Destinations.alike(ParkedReason.ACCESS_REFUSED, OPEN, new Route("x", "open")))
        .isTrue();
    assertThat(Destinations.alike(ParkedReason.EXCHANGE_MISSING, OPEN, SHUT)).isTrue();
  }
}
