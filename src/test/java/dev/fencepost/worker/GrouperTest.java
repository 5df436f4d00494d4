package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class GrouperTest {
  private static final int TOO_MUCH = 3;

  private final VirtualTimers timers = new VirtualTimers();
  private final List<Integer> sizes = new ArrayList<>();
  private final List<Integer> answered = new ArrayList<>();
  private int mostAtOnce = TOO_MUCH - 1;

  /** What no statement can carry in time would be sent for ever if it were not made smaller. */
  @Test
  void aGroupWithoutAnAnswerInTimeGoesInHalves() {
    Grouper<Integer, Boolean> grouper = grouper(FailureKind.TIMEOUT);
    List.of(1, 2, 3, 4, 5).forEach(grouper::add);
    timers.advance(Duration.ofMinutes(1));
    assertThat(answered).containsExactly(1, 2, 3, 4, 5);
    assertThat(sizes).containsExactly(5, 2, 3, 1, 2);
    assertThat(grouper.size()).isZero();
  }

  @Test
  void aGroupThatFoundNoDatabaseStaysWhole() {
    Grouper<Integer, Boolean> grouper = grouper(FailureKind.DATABASE_UNREACHABLE);
    List.of(1, 2, 3, 4, 5).forEach(grouper::add);
    timers.advance(Duration.ofMinutes(1));
    assertThat(answered).isEmpty();
    assertThat(sizes).hasSizeGreaterThan(1).containsOnly(5);
    assertThat(grouper.size()).isEqualTo(5);
  }

  @Test
  void anOutageIsWarnedOfOnceAndItsEndIsTold() {
    Logger logger = (Logger) LoggerFactory.getLogger(Grouper.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    try {
      Grouper<Integer, Boolean> grouper = grouper(FailureKind.DATABASE_UNREACHABLE);
      for (int outage = 1; outage <= 2; outage++) {
        List.of(1, 2, 3).forEach(grouper::add);
        timers.advance(Duration.ofMinutes(10));
        assertThat(levels(log)).containsOnlyOnce(Level.WARN).doesNotContain(Level.INFO);
        mostAtOnce = 100;
        timers.advance(Duration.ofMinutes(1));
        assertThat(levels(log)).containsOnlyOnce(Level.WARN, Level.INFO);
        mostAtOnce = TOO_MUCH - 1;
        log.list.clear();
      }
    } finally {
      logger.detachAppender(log);
    }
  }

  private static List<Level> levels(ListAppender<ILoggingEvent> log) {
    return log.list.stream().map(ILoggingEvent::getLevel).toList();
  }

  /** Each statement that meets the locked row waits two seconds for it, as the database does. */
  @Test
  void aLockedRowHoldsUpNobodyButItself() {
    boolean[] locked = {true};
    Grouper<Integer, Boolean> grouper =
        new Grouper<>(
            "test",
            100,
            timers,
            group -> {
              sizes.add(group.size());
              if (!locked[0] || !group.contains(7)) {
                return Future.succeededFuture(group.stream().map(item -> true).toList());
              }
              Promise<List<Boolean>> late = Promise.promise();
              FencepostException conflict =
                  new FencepostException(FailureKind.DATABASE_CONFLICT, "lock timeout");
              timers.after(Duration.ofSeconds(2), () -> late.fail(conflict));
              return late.future();
            },
            answers(),
            cause -> {});
    IntStream.range(0, 16).forEach(grouper::add);
    timers.advance(Duration.ofSeconds(10)); // once whole, then four times in halves
    assertThat(answered).hasSize(15).doesNotContain(7);
    for (int later = 100; later < 150; later++) {
      grouper.add(later);
      timers.advance(Duration.ofMillis(100));
      assertThat(answered).as("at once").contains(later);
    }
    assertThat(grouper.size()).isEqualTo(1);
    locked[0] = false;
    timers.advance(Duration.ofSeconds(3));
    assertThat(answered).hasSize(66).contains(7).doesNotHaveDuplicates();
    assertThat(grouper.size()).isZero();
  }

  private Grouper<Integer, Boolean> grouper(FailureKind kind) {
    return new Grouper<>("test", 100, timers, group -> sent(group, kind), answers(), cause -> {});
  }

  private Future<List<Boolean>> sent(List<Integer> group, FailureKind kind) {
    sizes.add(group.size());
    return group.size() > mostAtOnce
        ? Future.failedFuture(new FencepostException(kind, "no answer"))
        : Future.succeededFuture(group.stream().map(item -> true).toList());
  }

  private Grouper.Answers<Integer, Boolean> answers() {
    return new Grouper.Answers<>() {
      @Override
      public void answered(Integer item, Boolean answer, long sentNanos) {
        answered.add(item);
      }

      @Override
      public void refused(Integer item, Throwable cause) {
        throw new AssertionError("refused " + item, cause);
      }
    };
  }
}
