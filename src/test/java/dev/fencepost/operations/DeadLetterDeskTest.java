package dev.fencepost.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.BulkResult.Outcome;
import dev.fencepost.operations.DeadLetterChanges.Change;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DeadLetterDeskTest {
  private static final Who ANNA = new Who("anna", null);
  private static final BulkRequest.Pace FAST = new BulkRequest.Pace(false, 0, BulkRequest.Pace.ALL);

  private final FakeStores stores = new FakeStores();
  private final DeadLetterDesk desk = stores.operations().deadLetters();

  private static DeadLetterFilter any() {
    return DeadLetterFilter.of(null, null, null, TimeSpan.ALWAYS);
  }

  private void fill(int count) {
    LongStream.rangeClosed(1, count)
        .forEach(id -> stores.deadLetter(id, id % 2 == 0 ? "mail" : "bill", "permanent_failure"));
  }

  @Test
  void redrivesEverythingThatPassesTheFilterAndSaysWhatCameOfEach() {
    fill(450);
    List<Long> progress = new ArrayList<>();

    BulkResult result =
        desk.redrive(
                new BulkRequest(
                    List.of(),
                    DeadLetterFilter.of("mail", null, null, TimeSpan.ALWAYS),
                    false,
                    ANNA,
                    FAST),
                progress::add)
            .result();

    assertThat(result.items()).hasSize(225).allMatch(i -> i.outcome() == Outcome.REDRIVEN);
    assertThat(result.ok()).isTrue();
    assertThat(result.more()).isFalse();
    assertThat(stores.chunks).containsExactly(100, 100, 25);
    assertThat(progress).containsExactly(100L, 200L, 225L);
    assertThat(stores.deadLetters.values())
        .allMatch(r -> r.text("consumer").equals("mail") == r.text("state").equals("redriven"));
  }

  @Test
  void aSecondClickIsANoOp() {
    fill(1);
    BulkRequest request = new BulkRequest(List.of(1L), any(), false, ANNA, FAST);

    assertThat(desk.redrive(request, Progress.NONE).result().changed()).isEqualTo(1);
    BulkResult second = desk.redrive(request, Progress.NONE).result();

    assertThat(second.items())
        .extracting(BulkResult.Item::outcome)
        .containsExactly(Outcome.UNCHANGED);
    assertThat(second.ok()).isTrue();
    assertThat(second.changed()).isZero();
  }

  @Test
  void oneBadItemLeavesTheOthersAlone() {
    fill(3);
    stores.onChange = id -> id == 2 ? new Change(2, Outcome.FAILED, "its body is gone") : null;

    BulkResult result =
        desk.redrive(
                new BulkRequest(List.of(1L, 2L, 3L, 99L), any(), false, ANNA, FAST), Progress.NONE)
            .result();

    assertThat(result.ok()).isFalse();
    assertThat(result.failed()).isEqualTo(2);
    assertThat(result.items())
        .extracting(i -> i.id() + " " + i.outcome())
        .containsExactlyInAnyOrder("1 REDRIVEN", "2 FAILED", "3 REDRIVEN", "99 NOT_FOUND");
  }

  @Test
  void aDryRunChangesNothing() {
    fill(250);

    BulkResult result =
        desk.discard(
                new BulkRequest(
                    List.of(),
                    any(),
                    true,
                    null,
                    new BulkRequest.Pace(true, 0, BulkRequest.Pace.ALL)),
                Progress.NONE)
            .result();

    assertThat(result.items()).hasSize(250).allMatch(i -> i.outcome() == Outcome.WOULD_DISCARD);
    assertThat(result.changed()).isEqualTo(250);
    assertThat(result.toJson().getLong("changed")).isZero();
    assertThat(stores.chunks).isEmpty();
    assertThat(stores.deadLetters.values()).allMatch(r -> r.text("state").equals("open"));
  }

  @Test
  void theRateIsKept() {
    fill(25);

    desk.redrive(
        new BulkRequest(List.of(), any(), true, ANNA, new BulkRequest.Pace(false, 10, 1000)),
        Progress.NONE);

    assertThat(stores.chunks).containsExactly(10, 10, 5);
    assertThat(stores.pauses).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(1));
  }

  @Test
  void aLimitIsKeptAndSaysThatThereAreMore() {
    fill(120);

    BulkResult result =
        desk.redrive(
                new BulkRequest(List.of(), any(), true, ANNA, new BulkRequest.Pace(false, 0, 110)),
                Progress.NONE)
            .result();

    assertThat(result.items()).hasSize(110);
    assertThat(result.more()).isTrue();
    BulkResult byId =
        desk.redrive(
                new BulkRequest(
                    List.of(111L, 112L, 113L),
                    any(),
                    false,
                    ANNA,
                    new BulkRequest.Pace(false, 0, 2)),
                Progress.NONE)
            .result();
    assertThat(byId.items()).extracting(BulkResult.Item::id).containsExactly(111L, 112L);
    assertThat(byId.more()).isTrue();
  }

  @Test
  void aWaveOfAnyLengthIsWorkedOff() {
    fill(200_000);

    BulkResult result =
        desk.redrive(new BulkRequest(List.of(), any(), true, ANNA, FAST), Progress.NONE).result();

    assertThat(result.changed()).isEqualTo(200_000);
  }

  @Test
  void whatDiesMeanwhileIsNotTouched() {
    fill(150);
    stores.onChange =
        id -> {
          if (!stores.deadLetters.containsKey(1000 + id)) {
            stores.deadLetter(1000 + id, "mail", "permanent_failure");
          }
          return null;
        };

    BulkResult result =
        desk.redrive(new BulkRequest(List.of(), any(), true, ANNA, FAST), Progress.NONE).result();

    assertThat(result.items()).hasSize(150).allMatch(i -> i.id() <= 150);
  }

  @Test
  void anOutageKeepsWhatWasDoneAndFailsOnlyWhenNothingWas() {
    fill(150);
    FencepostException outage = new FencepostException(FailureKind.DATABASE_UNREACHABLE, "gone");
    stores.onChange =
        id -> {
          if (id > 100) {
            throw outage;
          }
          return null;
        };
    BulkRequest all = new BulkRequest(List.of(), any(), true, ANNA, FAST);

    BulkResult result = desk.redrive(all, Progress.NONE).result();
    assertThat(result.items()).hasSize(100);
    assertThat(result.stopped()).isEqualTo("gone");
    assertThat(result.ok()).isFalse();

    assertThat(desk.redrive(all, Progress.NONE).cause()).isSameAs(outage);
  }

  @Test
  void requestsThatMeanNothingAreRefused() {
    assertThatThrownBy(() -> new BulkRequest(List.of(1L), any(), false, null, FAST))
        .hasMessageContaining("operator");
    assertThatThrownBy(() -> new BulkRequest(List.of(1L), any().withSearch("x"), false, ANNA, FAST))
        .hasMessageContaining("not both");
    assertThatThrownBy(() -> new BulkRequest(List.of(), any(), false, ANNA, FAST))
        .hasMessageContaining("all: is missing");
    assertThatThrownBy(() -> new BulkRequest.Pace(false, -1, 10)).hasMessageContaining("rate");
    assertThatThrownBy(() -> TimeSpan.of("2025-03-31", "2025-03-30", FakeStores.NOW))
        .hasMessageContaining("until");
    assertThat(desk.show(5).cause()).hasMessage("there is no dead letter 5");
  }

  @Test
  void bodiesInJsonAreTextOrBase64() {
    ViewRow text = FakeStores.row("body", "grün".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    ViewRow binary = FakeStores.row("body", new byte[] {(byte) 0xff, 0});

    assertThat(text.toJson().encode()).isEqualTo("{\"body\":\"grün\",\"body_encoding\":\"utf-8\"}");
    assertThat(binary.toJson().encode())
        .isEqualTo("{\"body\":\"/wA=\",\"body_encoding\":\"base64\"}");
  }
}
