package dev.fencepost.pg;

import dev.fencepost.relay.OutboxStore.LateRequest;
import dev.fencepost.relay.OutboxStore.Span;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the rows of long transactions that have ended lie. It is looked for once, for all lanes: a
 * transaction's rows do not change any more, and to look costs as much as the transaction wrote.
 */
final class LateRows {
  private static final int KEPT = 1_000;

  /** Rows of others that lie between are cheaper to pass over than another page is to ask for. */
  private static final long GAP = 8_192;

  private final Search search;
  private final Map<Transaction, Future<Found>> known = new LinkedHashMap<>();

  private record Transaction(String life, long tx) {}

  /** Asks the database. */
  interface Search {
    Future<Found> of(String life, long[] txs);
  }

  /** By transaction and lane, in any order. */
  static final class Found {
    private final Map<Long, Map<Integer, List<Span>>> spans = new HashMap<>();

    void add(long tx, int lane, Span span) {
      spans
          .computeIfAbsent(tx, t -> new HashMap<>())
          .computeIfAbsent(lane, l -> new ArrayList<>())
          .add(span);
    }

    private List<Span> of(long tx, int lane) {
      return spans.getOrDefault(tx, Map.of()).getOrDefault(lane, List.of());
    }
  }

  LateRows(Search search) {
    this.search = search;
  }

  Future<List<Span>> of(LateRequest request) {
    lookFor(request.life(), missing(request));
    List<Future<List<Span>>> all = new ArrayList<>();
    for (long tx : request.txs()) {
      Future<Found> found = known.get(new Transaction(request.life(), tx));
      if (found != null) {
        all.add(found.map(each -> each.of(tx, request.lane())));
      }
    }
    List<Transaction> eldest = List.copyOf(known.keySet());
    eldest.subList(0, Math.max(0, eldest.size() - KEPT)).forEach(known::remove);
    return Future.all(all)
        .map(v -> merged(all.stream().flatMap(f -> f.result().stream()).toList()));
  }

  private long[] missing(LateRequest request) {
    return Arrays.stream(request.txs())
        .filter(
            tx -> {
              Future<Found> before = known.get(new Transaction(request.life(), tx));
              return before == null || before.failed();
            })
        .toArray();
  }

  private void lookFor(String life, long[] txs) {
    if (txs.length > 0) {
      Future<Found> found = search.of(life, txs);
      for (long tx : txs) {
        known.put(new Transaction(life, tx), found);
      }
    }
  }

  private static List<Span> merged(List<Span> spans) {
    List<Span> merged = new ArrayList<>();
    for (Span next : spans.stream().sorted(Comparator.comparingLong(Span::above)).toList()) {
      Span last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last != null && next.above() - last.upTo() < GAP) {
        merged.set(merged.size() - 1, new Span(last.above(), Math.max(last.upTo(), next.upTo())));
      } else {
        merged.add(next);
      }
    }
    return merged;
  }
}
