package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ParkedLogTest {
  private final List<String> warned = new ArrayList<>();
  private final List<String> informed = new ArrayList<>();
  private long now;
  private final ParkedLog log = new ParkedLog(warned::add, informed::add, () -> now);

  private static OutboxRow row(long seq, String exchange) {
    return new OutboxRow(
        new OutboxRow.Position(1, seq, 3),
        new OutboxRow.Route(exchange, "r"),
        "e" + seq,
        "t",
        "k",
        new OutboxRow.Message(new byte[0], "text/plain", "{}", "{}"));
  }

  @Test
  void namesTheEventAndWhy() {
    log.parked(row(7, "orders"), ParkedReason.UNROUTABLE, "NO_ROUTE");
    assertThat(warned)
        .containsExactly(
            "parked event=e7 key=k lane=3 reason=unroutable exchange=orders routing_key=r"
                + " detail=NO_ROUTE");
  }

  @Test
  void tellsAFewOfADestinationAndCountsTheRest() {
    for (int i = 0; i < 500; i++) {
      log.parked(row(i, "gone"), ParkedReason.EXCHANGE_MISSING, null);
    }
    log.parked(row(500, "other"), ParkedReason.EXCHANGE_MISSING, null);
    assertThat(warned).hasSize(ParkedLog.FEW + 1);
    log.flush();
    assertThat(warned).as("the while is not over").hasSize(ParkedLog.FEW + 1);
    now += ParkedLog.WHILE.toNanos();
    log.flush();
    assertThat(warned)
        .hasSize(ParkedLog.FEW + 2)
        .last()
        .isEqualTo("parked reason=exchange_missing exchange=gone more=" + (500 - ParkedLog.FEW));
    log.parked(row(501, "gone"), ParkedReason.EXCHANGE_MISSING, null);
    assertThat(warned).last().asString().contains("event=e501");
  }

  @Test
  void tellsWhatBecameOfIt() {
    log.published(row(7, "orders"), 2);
    log.carriedOut(3, new ParkedRows.Carried("skip", 8, "e8", "k", null, "anna"));
    OutboxRow.Route to = new OutboxRow.Route("x", "y");
    log.carriedOut(3, new ParkedRows.Carried("redirect", 9, "e9", null, to, "anna"));
    assertThat(informed)
        .containsExactly(
            "parked row published event=e7 key=k lane=3 exchange=orders routing_key=r refusals=2",
            "parked row skipped event=e8 key=k lane=3 operator=anna",
            "parked row redirected event=e9 key=null lane=3 exchange=x routing_key=y"
                + " operator=anna");
  }
}
