package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class SnapshotWindowTest {
  @Test
  void readsAndWritesPostgresText() {
    Snapshot snapshot = Snapshot.parse("10:20:10,14,15");
    assertThat(snapshot.toString()).isEqualTo("10:20:10,14,15");
    assertThat(snapshot.sees(9)).isTrue();
    assertThat(snapshot.sees(10)).isFalse();
    assertThat(snapshot.sees(11)).isTrue();
    assertThat(snapshot.sees(20)).isFalse();
    assertThat(Snapshot.parse("20:20:")).isEqualTo(Snapshot.of(20));
    assertThat(Snapshot.of(20, 15, 10)).isEqualTo(Snapshot.parse("10:20:10,15"));
  }

  @Test
  void tellsFreshFromLate() {
    SnapshotWindow window = new SnapshotWindow(Snapshot.of(20, 15, 17), 100, Snapshot.of(30, 17));
    assertThat(window.fresh(21, 101)).isTrue();
    assertThat(window.fresh(15, 101)).isTrue();
    assertThat(window.late(15, 100)).isTrue();
    assertThat(window.contains(17, 100)).as("still running").isFalse();
    assertThat(window.contains(16, 101)).as("seen before").isFalse();
    assertThat(window.contains(30, 101)).as("not yet seen").isFalse();
    assertThat(window.ended()).containsExactly(15);
    assertThat(window.idle(100)).isFalse();
    assertThat(new SnapshotWindow(Snapshot.of(20, 17), 100, Snapshot.of(30, 17)).idle(100))
        .isTrue();
  }

  @Property(tries = 2000)
  void everyCommittedRowIsInExactlyOneBatchUnderAnyHistory(@ForAll long seed) {
    History history = new History(new Random(seed), true);
    history.play(150);
    for (History.Row row : history.committed()) {
      assertThat(history.batchesOf(row)).as("row %s", row).hasSize(1);
    }
  }

  @Property(tries = 2000)
  void rowsOfOneKeyComeInTheOrderWritten(@ForAll long seed) {
    History history = new History(new Random(seed), true);
    history.play(150);
    Map<Integer, History.Row> before = new HashMap<>();
    for (History.Row row : history.published()) {
      History.Row earlier = before.put(row.key(), row);
      if (earlier != null) {
        assertThat(row.seq()).as("after %s", earlier).isGreaterThan(earlier.seq());
      }
    }
  }

  @Property(tries = 1000)
  void noRowOfARunningTransactionLiesBelowItsFloor(@ForAll long seed) {
    History history = new History(new Random(seed), true);
    history.play(150);
    assertThat(history.rowsBelowTheirFloor()).isEmpty();
  }

  /** The trap that the prototype fell into: the test must be able to fail. */
  @Test
  void withoutTheMarkRowsAreLost() {
    int lost = 0;
    for (int seed = 0; seed < 200; seed++) {
      History history = new History(new Random(seed), false);
      history.play(150);
      for (History.Row row : history.committed()) {
        lost += history.batchesOf(row).isEmpty() ? 1 : 0;
      }
    }
    assertThat(lost).isPositive();
  }

  /**
   * A cluster in small: transactions that take an xid, lock a key, insert, commit or roll back, and
   * one reader that opens batches. Its snapshots are made as PostgreSQL makes them: {@code xmax} is
   * one past the last <em>completed</em> xid.
   */
  private static final class History {
    record Row(long tx, long seq, int key) {}

    private final Random random;
    private final boolean marks;
    private final Map<Long, List<Row>> running = new HashMap<>();
    private final Map<Integer, Long> locks = new HashMap<>();
    private final List<Row> committed = new ArrayList<>();
    private final List<SnapshotWindow> windows = new ArrayList<>();
    private final List<Row> published = new ArrayList<>();
    private final List<Row> belowFloor = new ArrayList<>();
    private Map<Long, Long> floors = new HashMap<>();
    private long nextXid = 3;
    private long lastCompleted = 2;
    private long lastSeq;
    private boolean quiet;
    private Snapshot last;
    private long floor;

    History(Random random, boolean marks) {
      this.random = random;
      this.marks = marks;
      mark();
      last = snapshot();
    }

    void play(int steps) {
      for (int i = 0; i < steps; i++) {
        if (random.nextInt(12) == 0) {
          openBatch();
        } else {
          write();
        }
      }
      List.copyOf(running.keySet()).forEach(tx -> end(tx, true));
      quiet = true;
      openBatch();
    }

    private void write() {
      int what = random.nextInt(10);
      if (what < 3 || running.isEmpty()) {
        running.put(nextXid++, new ArrayList<>());
        return;
      }
      List<Long> all = List.copyOf(running.keySet());
      long tx = all.get(random.nextInt(all.size()));
      if (what < 7) {
        int key = random.nextInt(4);
        if (locks.getOrDefault(key, tx) == tx) {
          locks.put(key, tx);
          running.get(tx).add(new Row(tx, ++lastSeq, key));
        } // else it waits for the lock
      } else {
        end(tx, what < 9);
      }
    }

    private void end(long tx, boolean commit) {
      List<Row> rows = running.remove(tx);
      locks.values().removeIf(holder -> holder == tx);
      lastCompleted = Math.max(lastCompleted, tx);
      if (commit) {
        committed.addAll(rows);
      }
    }

    /** Between its three steps anything may happen. */
    private void openBatch() {
      long nextFloor = lastSeq;
      interlude();
      mark();
      interlude();
      Snapshot cur = snapshot();
      SnapshotWindow window = new SnapshotWindow(last, floor, cur);
      floors = window.floors(floors);
      running.values().stream()
          .flatMap(List::stream)
          .filter(row -> row.seq() <= floors.getOrDefault(row.tx(), 0L))
          .forEach(belowFloor::add);
      interlude();
      windows.add(window);
      committed.stream()
          .filter(row -> window.contains(row.tx(), row.seq()))
          .sorted((a, b) -> Long.compare(a.seq(), b.seq()))
          .forEach(published::add);
      last = cur;
      floor = nextFloor;
    }

    private void interlude() {
      for (int i = quiet ? 0 : random.nextInt(4); i > 0; i--) {
        write();
      }
    }

    private void mark() {
      if (marks) {
        lastCompleted = Math.max(lastCompleted, nextXid++);
      }
    }

    private Snapshot snapshot() {
      long xmax = lastCompleted + 1;
      return Snapshot.of(
          xmax, running.keySet().stream().filter(tx -> tx < xmax).mapToLong(tx -> tx).toArray());
    }

    List<Row> committed() {
      return committed;
    }

    List<Row> published() {
      return published;
    }

    List<Row> rowsBelowTheirFloor() {
      return belowFloor;
    }

    List<SnapshotWindow> batchesOf(Row row) {
      return windows.stream().filter(w -> w.contains(row.tx(), row.seq())).toList();
    }
  }
}
