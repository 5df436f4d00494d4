package dev.fencepost.bench;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * All that a backlog costs, whatever its size: from the moment the relay is let go until everything
 * is delivered and checkpointed, and the rows are gone. What loading causes is over by then. A small
 * backlog is worked off many times a round, so that as many messages are behind its figures.
 */
final class Backlog extends ContenderEntrant<FencepostRelay> {

  private static final int WARMING = 100_000;
  private static final int ROWS_A_TRANSACTION = 1_000_000;
  private static final Duration LOOK_EVERY = Duration.ofMillis(10);

  /** Each lane's newest checkpoint has its last row behind it. */
  private static final String SETTLED =
      """
      select coalesce(bool_and(pg_visible_in_snapshot(o.tx::text::xid8, c.last)
          or (c.cur is not null and c.position >= o.seq)), true)
      from fencepost.relay_leases l
      cross join lateral (
        select tx, seq from fencepost.outbox where lane = l.lane order by seq desc limit 1) o
      cross join lateral (
        select last, cur, position from fencepost.relay_checkpoints where lane = l.lane
        order by n desc limit 1) c
      """;

  private static final String NO_UPKEEP =
      "select not exists (select 1 from pg_stat_activity where backend_type = 'autovacuum worker')";

  private static final String USED_SLOTS =
      IntStream.range(0, 8)
          .mapToObj(i -> "fencepost.outbox_" + i)
          .map(slot -> "select '%s' s where exists (select 1 from %s)".formatted(slot, slot))
          .collect(Collectors.joining(" union all ", "select string_agg(s, ', ') from (", ") used"));

  private final RelayThroughput warming;
  private final int rows;
  private final int warmUps;
  private final int times;
  private final int size;

  /** A session costs more to begin than what it is asked here. */
  private Connection session;

  Backlog(FencepostRelay relay, int rows, int warmUps, int times, int size) {
    super(relay);
    this.warming = new RelayThroughput(relay, WARMING, size);
    this.rows = rows;
    this.warmUps = warmUps;
    this.times = times;
    this.size = size;
  }

  @Override
  public void start() {
    super.start();
    for (int i = 0; i < warmUps; i++) {
      warming.round(i);
    }
    contender.queue().recreate();
    try {
      session = contender.connect();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Map<String, Double> round(int number) {
    // What was frozen before its checkpoint is published once more.
    untilSettled();
    empty();
    contender.database().forgetStatements();
    Contender.Cpu used = Contender.Cpu.NONE;
    long loading = 0;
    long nanos = 0;
    for (int i = 0; i < times; i++) {
      long begun = System.nanoTime();
      load();
      loading += System.nanoTime() - begun;
      Contender.Cpu before = contender.cpu();
      nanos += deliver();
      used = used.plus(contender.cpu().minus(before));
    }
    Contender.Cpu before = contender.cpu();
    empty();
    used = used.plus(contender.cpu().minus(before));
    System.out.printf("  loading %.1f s, delivering %.1f s%n", loading / 1e9, nanos / 1e9);
    double messages = (double) rows * times;
    Map<String, Double> figures = Figures.withCost(Figures.of(messages, nanos, used));
    figures.put(Figures.STATEMENTS, statementsPer(messages));
    figures.put(Figures.MEMORY, memory());
    return figures;
  }

  /** Leaves a frozen relay before the rows, and a PostgreSQL that has nothing left to do. */
  private void load() {
    contender.stop();
    for (int left = rows; left > 0; left -= ROWS_A_TRANSACTION) {
      contender.fill(Math.min(left, ROWS_A_TRANSACTION), size);
    }
    contender.queue().purge();
    execute("vacuum " + Servers.BENCH + "(analyze) fencepost.outbox", "checkpoint " + Servers.BENCH);
    until("autovacuum rests", () -> answer(NO_UPKEEP).equals("t"));
  }

  /** The nanoseconds from letting go to the last delivery; returns when all is settled. */
  private long deliver() {
    long begun = System.nanoTime();
    contender.resume();
    Delivered delivered = new Delivered(contender.queue());
    long end = passes(delivered::now, count -> count >= rows, LOOK_EVERY).nanos();
    untilSettled();
    return end - begun;
  }

  private void untilSettled() {
    until("all is settled", () -> answer(SETTLED).equals("t"));
  }

  /** As the relay empties a slot of its ring once all its rows are older than the retention. */
  private void empty() {
    String slots = answer(USED_SLOTS);
    if (slots != null) {
      execute("truncate " + Servers.BENCH + slots);
    }
  }

  private String answer(String query) {
    try (Statement statement = session.createStatement();
        ResultSet row = statement.executeQuery(Servers.BENCH + query)) {
      row.next();
      return row.getString(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void execute(String... statements) {
    try (Statement statement = session.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Counts what arrives and throws it away, so that the broker carries as much for either size. */
  private static final class Delivered {
    private static final int KEPT = 10_000;
    private final Queue queue;
    private long thrownAway;
    private long deepest;

    Delivered(Queue queue) {
      this.queue = queue;
    }

    long now() {
      // A quorum queue that is too busy to answer says 0.
      deepest = Math.max(deepest, queue.depth());
      if (deepest >= KEPT) {
        thrownAway += queue.purge();
        deepest = 0;
      }
      return thrownAway + deepest;
    }
  }
}
