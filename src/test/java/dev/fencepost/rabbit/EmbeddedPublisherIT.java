package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.embedded.EmbeddedBroker;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.rabbit.PublishHarness.Plain;
import dev.fencepost.rabbit.PublishHarness.Told;
import dev.fencepost.relay.Publisher.PublishChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EmbeddedPublisherIT {

  private final Told told = new Told();

  @Test
  void confirmsAndTellsUnroutableRowsThoughTheNackComesFirst() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start();
        PublishHarness harness = new PublishHarness(broker.uri());
        Plain plain = new Plain(broker.uri())) {
      plain.queue("known", null);
      PublishChannel channel = harness.open("lane-0", told);
      List<OutboxRow> rows = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        rows.add(harness.row("", i % 10 == 3 ? "unknown" : "known"));
      }
      harness.publish(channel, rows);
      told.awaitVerdicts(200);
      assertThat(told.repeated).hasValue(0);
      for (OutboxRow row : rows) {
        ParkedReason expected =
            row.route().routingKey().equals("known") ? null : ParkedReason.UNROUTABLE;
        assertThat(told.verdicts.get(row.seq()).refusal()).isEqualTo(expected);
      }
      assertThat(told.closed).isEmpty();
    }
  }

  @Test
  void aMissingExchangeClosesTheChannelWithItsReason() {
    try (EmbeddedBroker broker = EmbeddedBroker.start();
        PublishHarness harness = new PublishHarness(broker.uri())) {
      PublishChannel channel = harness.open("lane-0", told);
      harness.publish(channel, List.of(harness.row("missing", "x")));
      told.awaitClosed(Duration.ofSeconds(5));
      assertThat(told.refusals).containsExactly(ParkedReason.EXCHANGE_MISSING);
    }
  }
}
