package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.relay.OutboxStore.LateRequest;
import dev.fencepost.relay.OutboxStore.Span;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LateRowsTest {
  private final List<String> searches = new ArrayList<>();
  private final List<Promise<LateRows.Found>> answers = new ArrayList<>();
  private final LateRows rows =
      new LateRows(
          (life, txs) -> {
            searches.add(life + " " + java.util.Arrays.toString(txs));
            Promise<LateRows.Found> answer = Promise.promise();
            answers.add(answer);
            return answer.future();
          });

  private Future<List<Span>> of(int lane, long... txs) {
    return rows.of(new LateRequest("life", lane, txs));
  }

  private static LateRows.Found found() {
    return new LateRows.Found();
  }

  @Test
  void allLanesShareOneSearch() {
    Future<List<Span>> first = of(0, 7);
    Future<List<Span>> second = of(1, 7);
    LateRows.Found found = found();
    found.add(7, 0, new Span(10, 20));
    answers.get(0).complete(found);

    assertThat(first.result()).containsExactly(new Span(10, 20));
    assertThat(second.result()).isEmpty();
    assertThat(of(0, 7).result()).containsExactly(new Span(10, 20));
    assertThat(searches).containsExactly("life [7]");
  }

  @Test
  void onlyWhatIsNotKnownIsLookedFor() {
    of(0, 7);
    Future<List<Span>> both = of(0, 7, 8);
    LateRows.Found seven = found();
    seven.add(7, 0, new Span(100_000, 100_001));
    answers.get(0).complete(seven);
    assertThat(both.isComplete()).isFalse();
    LateRows.Found eight = found();
    eight.add(8, 0, new Span(10, 20));
    answers.get(1).complete(eight);

    assertThat(both.result()).containsExactly(new Span(10, 20), new Span(100_000, 100_001));
    assertThat(searches).containsExactly("life [7]", "life [8]");
  }

  @Test
  void neighboursBecomeOneSpan() {
    Future<List<Span>> spans = of(0, 7);
    LateRows.Found found = found();
    found.add(7, 0, new Span(30_000, 30_500));
    found.add(7, 0, new Span(8_000, 16_000));
    found.add(7, 0, new Span(1, 8_000));
    answers.get(0).complete(found);

    assertThat(spans.result()).containsExactly(new Span(1, 16_000), new Span(30_000, 30_500));
  }

  @Test
  void aSearchThatFailedIsRepeated() {
    Future<List<Span>> first = of(0, 7);
    answers.get(0).fail("the database is away");
    assertThat(first.failed()).isTrue();

    Future<List<Span>> again = of(0, 7);
    answers.get(1).complete(found());
    assertThat(again.result()).isEmpty();
  }

  /** Transaction ids may have been given out again. */
  @Test
  void anotherLifeIsLookedForAnew() {
    of(0, 7);
    rows.of(new LateRequest("other", 0, new long[] {7}));

    assertThat(searches).containsExactly("life [7]", "other [7]");
  }

  @Test
  void moreThanAreKeptAreFoundNevertheless() {
    long[] many = java.util.stream.LongStream.range(0, 1_500).toArray();
    Future<List<Span>> spans = of(0, many);
    LateRows.Found found = found();
    found.add(0, 0, new Span(1, 2));
    found.add(1_499, 0, new Span(100_000, 100_002));
    answers.forEach(answer -> answer.complete(found));

    assertThat(spans.result()).containsExactly(new Span(1, 2), new Span(100_000, 100_002));
    assertThat(searches).hasSize(1);
  }
}
