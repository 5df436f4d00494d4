package dev.fencepost.pg;

import dev.fencepost.worker.ActivityStore.Slots;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Starts from the database: due retries, released events, suspects. */
final class DueClaims {
  private final DurableWork work;
  private final BatchLedger batches;
  private final KeyReleases releases;
  private final WrittenLetters letters;
  private final Pulse pulse;
  private final Map<Wanted, Lookback> lookbacks = new ConcurrentHashMap<>();
  private final String due;

  private record Wanted(String consumer, String type, boolean suspects, @Nullable Boolean first) {}

  /**
   * Starts of one type.
   *
   * @param first of events that have not been started yet, of the others, or (null) of all
   */
  private record Part(Claim.Work work, int free, @Nullable Boolean first) {}

  DueClaims(
      DurableWork work,
      BatchLedger batches,
      KeyReleases releases,
      WrittenLetters letters,
      Pulse pulse) {
    this.work = work;
    this.pulse = pulse;
    this.letters = letters;
    this.batches = batches;
    this.releases = releases;
    this.due = work.sql(ClaimSql.DUE);
  }

  Future<List<Claim.Due>> due(String owner, String consumer, Map<String, Slots> free) {
    List<Part> wanted = new ArrayList<>();
    free.values().forEach(slots -> parts(slots, wanted));
    int total = wanted.stream().mapToInt(Part::free).sum();
    return wanted.isEmpty()
        ? Future.succeededFuture(List.of())
        : Pulse.when(
            pulse.mayBeDue(consumer),
            () -> claim(owner, consumer, wanted, false, total),
            List.of());
  }

  private static void parts(Slots slots, List<Part> wanted) {
    if (slots.free() > 0) {
      wanted.add(new Part(slots.work(), slots.free(), slots.first() > 0 ? false : null));
    }
    if (slots.first() > 0) {
      wanted.add(new Part(slots.work(), slots.first(), true));
    }
  }

  Future<Set<String>> any(Set<String> consumers) {
    return pulse.mayBeDue(consumers);
  }

  Future<Boolean> any(String consumer, String type) {
    return Pulse.when(
        pulse.mayBeDue(consumer),
        () ->
            work.execute(work.sql(UpkeepSql.HAS_DUE), Tuple.of(consumer, type))
                .map(rows -> rows.iterator().next().getBoolean("due")),
        false);
  }

  Future<Claim.@Nullable Due> suspect(
      String owner, String consumer, Map<String, Claim.Work> types) {
    List<Part> wanted = types.values().stream().map(each -> new Part(each, 1, null)).toList();
    return wanted.isEmpty()
        ? Future.succeededFuture()
        : Pulse.when(
                pulse.mayBeDue(consumer),
                () -> claim(owner, consumer, wanted, true, 1),
                List.<Claim.Due>of())
            .map(started -> started.isEmpty() ? null : started.get(0));
  }

  private Future<List<Claim.Due>> claim(
      String owner, String consumer, List<Part> wanted, boolean suspects, int total) {
    long now = System.nanoTime();
    List<Lookback.Span> spans = new ArrayList<>(wanted.size());
    wanted.forEach(s -> spans.add(lookback(consumer, s, suspects).span(now)));
    Columns<Part> columns =
        new Columns<>(wanted)
            .value(owner)
            .value(consumer)
            .names(s -> s.work().type())
            .names(s -> s.work().kind().wire())
            .longs(s -> s.work().maxRetries())
            .longs(s -> s.work().maxAttempts())
            .longs(s -> s.work().leaseTtl().toMillis())
            .value(suspects)
            .value((long) total)
            .longs(Part::free)
            .value(spans.stream().map(Lookback.Span::millis).toArray(Long[]::new))
            .value(batches.tag())
            .value(wanted.stream().map(Part::first).toArray(Boolean[]::new));
    Map<String, Claim.Work> byType = new HashMap<>();
    wanted.forEach(part -> byType.put(part.work().type(), part.work()));
    return work.execute(due, columns.tuple())
        .compose(
            rows -> {
              seen(consumer, wanted, suspects, spans, rows);
              letters.tell(rows);
              List<Claim.Due> started = new ArrayList<>(rows.size());
              KeyReleases.Keys ended = new KeyReleases.Keys();
              for (Row row : rows) {
                if (row.getBoolean("started")) {
                  started.add(started(row, byType));
                } else {
                  ended.ended(ActivityRows.id(row), row.getString("ordering_key"));
                }
              }
              return releases.after(started, ended);
            });
  }

  private Lookback lookback(String consumer, Part part, boolean suspects) {
    return lookbacks.computeIfAbsent(
        new Wanted(consumer, part.work().type(), suspects, part.first()), w -> pulse.lookback());
  }

  /**
   * Types of which fewer were found than there is room for have nothing left that is due; one
   * suspect says nothing of the others.
   */
  private void seen(
      String consumer,
      List<Part> wanted,
      boolean suspects,
      List<Lookback.Span> spans,
      RowSet<Row> rows) {
    for (int i = 0; i < wanted.size(); i++) {
      Part part = wanted.get(i);
      int found = 0;
      for (Row row : rows) {
        found += of(part, row) ? 1 : 0;
      }
      if (found < part.free() && !(suspects && rows.size() > 0)) {
        lookback(consumer, part, suspects).done(spans.get(i));
      }
    }
  }

  private static boolean of(Part part, Row row) {
    boolean first = row.getBoolean("started") && row.getInteger("attempts") == 1;
    return row.getString("type").equals(part.work.type())
        && (part.first == null || part.first == first);
  }

  private Claim.Due started(Row row, Map<String, Claim.Work> byType) {
    Claim.Work of = Objects.requireNonNull(byType.get(row.getString("type")));
    Claim.Ticket ticket = ActivityRows.ticket(row, of);
    batches.started(ticket.id(), ticket.fence(), row.getLong("batch"));
    return new Claim.Due(ticket, row.getString("ordering_key"), StoredMessage.required(row));
  }
}
