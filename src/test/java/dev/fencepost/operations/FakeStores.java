package dev.fencepost.operations;

import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** All ports of this room in memory. */
public final class FakeStores
    implements StatusStore,
        HistoryStore,
        ReviewStore,
        DeadLetterStore,
        DeadLetterChanges,
        ParkedStore,
        ParkedRequests,
        ReplayStore,
        AuditStore,
        Pacing {
  public static final Instant NOW = Instant.parse("2025-03-31T12:00:00Z");

  public final List<ViewRow> lanes = new ArrayList<>();
  public final List<Status.QueueStatus> queues = new ArrayList<>();
  public final Map<String, ActivityHistory> histories = new TreeMap<>();
  public final TreeMap<Long, ViewRow> deadLetters = new TreeMap<>();
  public final TreeMap<Long, ViewRow> parkedRows = new TreeMap<>();
  public final List<ReviewRequest> reviewed = new ArrayList<>();
  public final List<String> requested = new ArrayList<>();
  public final List<Duration> pauses = new ArrayList<>();
  public final List<Integer> chunks = new ArrayList<>();
  public Function<Long, Change> onChange = id -> null;
  public final List<String> replays = new ArrayList<>();
  public long replayable;
  public final List<ViewRow> auditLog = new ArrayList<>();

  public Operations operations() {
    return new Operations(
        new StatusQuery(this, Set.of("mail")),
        new ActivityQuery(this),
        new ReviewDesk(this, this),
        new DeadLetterDesk(this, this, this),
        new OutboxDesk(new OutboxDesk.Stores(this, this, this), this),
        this);
  }

  /** A row from name, value, name, value… */
  public static ViewRow row(Object... namesAndValues) {
    Map<String, Object> columns = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      columns.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return new ViewRow(columns);
  }

  public void activity(String consumer, String eventId, ActivityState state, long fence) {
    ViewRow activity =
        row(
            "consumer",
            consumer,
            "event_id",
            eventId,
            "type",
            "order.placed",
            "kind",
            "irreversible",
            "state",
            state.wire(),
            "attempts",
            1L,
            "fence",
            fence,
            "first_seen_at",
            NOW.minusSeconds(60));
    ViewRow attempt =
        row(
            "consumer",
            consumer,
            "event_id",
            eventId,
            "fence",
            fence,
            "worker",
            "w-1",
            "started_at",
            NOW.minusSeconds(59),
            "ended_at",
            NOW.minusSeconds(30),
            "outcome",
            "unknown",
            "error_class",
            "Timeout",
            "error_message",
            "no answer",
            "redelivered",
            false);
    ViewRow audit =
        row(
            "at",
            NOW.minusSeconds(29),
            "actor",
            "worker",
            "action",
            "manual_review",
            "consumer",
            consumer,
            "event_id",
            eventId,
            "fence",
            fence,
            "evidence",
            null,
            "detail",
            null);
    histories.put(
        consumer + "/" + eventId,
        new ActivityHistory(activity, List.of(attempt), List.of(), List.of(audit), List.of()));
  }

  public void deadLetter(long id, String consumer, String reason) {
    deadLetters.put(
        id,
        row(
            "id",
            id,
            "consumer",
            consumer,
            "event_id",
            "e-" + id,
            "type",
            "order.placed",
            "reason",
            reason,
            "error_message",
            "<b>boom</b>",
            "body",
            ("{\"id\":" + id + "}").getBytes(),
            "dead_at",
            NOW.plusSeconds(id),
            "state",
            "open"));
  }

  public void parked(long seq, String key, String exchange, String reason) {
    parkedRows.put(
        seq,
        row(
            "lane",
            3L,
            "seq",
            seq,
            "event_id",
            "e-" + seq,
            "key",
            key,
            "exchange",
            exchange,
            "routing_key",
            "r",
            "reason",
            reason,
            "attempts",
            1L,
            "parked_at",
            NOW));
  }

  @Override
  public Future<List<ViewRow>> lanes() {
    return Future.succeededFuture(lanes);
  }

  @Override
  public Future<List<Status.QueueStatus>> queues(Set<String> configured) {
    return Future.succeededFuture(queues);
  }

  @Override
  public Future<Page<ViewRow>> list(ActivityFilter filter, Page.Request page) {
    JsonArray after = Cursor.read(page.after(), 2);
    String from = after == null ? "" : Cursor.text(after, 0) + "/" + Cursor.text(after, 1);
    List<ViewRow> found =
        histories.entrySet().stream()
            .filter(e -> e.getKey().compareTo(from) > 0)
            .map(e -> e.getValue().activity())
            .filter(a -> filter.consumer() == null || filter.consumer().equals(a.text("consumer")))
            .filter(a -> filter.type() == null || filter.type().equals(a.text("type")))
            .filter(a -> filter.state() == null || filter.state().wire().equals(a.text("state")))
            .toList();
    boolean more = found.size() > page.limit();
    List<ViewRow> items = more ? found.subList(0, page.limit()) : found;
    ViewRow last = items.isEmpty() ? null : items.get(items.size() - 1);
    return Future.succeededFuture(
        new Page<>(items, more ? Cursor.of(last.text("consumer"), last.text("event_id")) : null));
  }

  @Override
  public Future<ActivityHistory> history(String consumer, String eventId) {
    return Future.succeededFuture(
        histories.getOrDefault(
            consumer + "/" + eventId,
            new ActivityHistory(null, List.of(), List.of(), List.of(), List.of())));
  }

  @Override
  public Future<Resolution> resolve(ReviewRequest request) {
    ActivityHistory found = histories.get(request.consumer() + "/" + request.eventId());
    if (found == null) {
      return Future.failedFuture(new FencepostException(FailureKind.NOT_FOUND, "no such activity"));
    }
    long fence = found.activity().number("fence");
    if (request.fence() != null && request.fence() != fence) {
      return Future.failedFuture(
          new FencepostException(FailureKind.STALE, "its fence is " + fence + " now"));
    }
    reviewed.add(request);
    ActivityState state =
        switch (request.decision()) {
          case SUCCEEDED -> ActivityState.COMPLETED;
          case FAILED -> ActivityState.DEAD;
          case RETRY -> ActivityState.RETRY_SCHEDULED;
        };
    return Future.succeededFuture(
        new Resolution(request.consumer(), request.eventId(), state, fence + 1, 1));
  }

  @Override
  public Future<Page<ViewRow>> list(DeadLetterFilter filter, Page.Request page) {
    JsonArray after = Cursor.read(page.after(), 1);
    long below = after == null ? Long.MAX_VALUE : Cursor.number(after, 0);
    List<ViewRow> found =
        deadLetters.headMap(below, false).descendingMap().values().stream()
            .filter(row -> passes(row, filter))
            .toList();
    boolean more = found.size() > page.limit();
    List<ViewRow> items = more ? found.subList(0, page.limit()) : found;
    return Future.succeededFuture(
        new Page<>(items, more ? Cursor.of(items.get(items.size() - 1).number("id")) : null));
  }

  private static boolean passes(ViewRow row, DeadLetterFilter filter) {
    return (filter.consumer() == null || filter.consumer().equals(row.text("consumer")))
        && (filter.reason() == null || filter.reason().wire().equals(row.text("reason")))
        && (filter.state() == null
            || filter.state().name().equalsIgnoreCase(row.textOrEmpty("state")))
        && (filter.span().since() == null
            || !row.instant("dead_at").isBefore(filter.span().since()))
        && (filter.span().until() == null || row.instant("dead_at").isBefore(filter.span().until()))
        && (filter.search() == null || row.textOrEmpty("event_id").contains(filter.search()));
  }

  @Override
  public Future<List<ViewRow>> between(DeadLetterFilter filter, long after, long last, int limit) {
    return Future.succeededFuture(
        deadLetters.subMap(after, false, last, true).values().stream()
            .filter(row -> passes(row, filter))
            .limit(limit)
            .toList());
  }

  @Override
  public Future<List<ViewRow>> byIds(List<Long> ids) {
    return Future.succeededFuture(
        ids.stream().map(deadLetters::get).filter(row -> row != null).toList());
  }

  @Override
  public Future<Long> newestId() {
    return Future.succeededFuture(deadLetters.isEmpty() ? 0L : deadLetters.lastKey());
  }

  @Override
  public Future<ViewRow> find(long id) {
    return Future.succeededFuture(deadLetters.get(id));
  }

  @Override
  public Future<List<Change>> redrive(List<Long> ids, Who who) {
    return change(ids, BulkResult.Outcome.REDRIVEN);
  }

  @Override
  public Future<List<Change>> discard(List<Long> ids, Who who) {
    return change(ids, BulkResult.Outcome.DISCARDED);
  }

  private Future<List<Change>> change(List<Long> ids, BulkResult.Outcome outcome) {
    chunks.add(ids.size());
    List<Change> changes = new ArrayList<>();
    for (long id : ids) {
      Change special;
      try {
        special = onChange.apply(id);
      } catch (FencepostException e) {
        return Future.failedFuture(e);
      }
      if (special != null) {
        changes.add(special);
      } else if ("open".equals(deadLetters.get(id).text("state"))) {
        Map<String, Object> columns = new LinkedHashMap<>(deadLetters.get(id).columns());
        columns.put("state", outcome.wire());
        deadLetters.put(id, new ViewRow(columns));
        changes.add(new Change(id, outcome, null));
      } else {
        changes.add(new Change(id, BulkResult.Outcome.UNCHANGED, "is not open"));
      }
    }
    return Future.succeededFuture(changes);
  }

  @Override
  public Future<Page<ViewRow>> list(ParkedFilter filter, Page.Request page) {
    return Future.succeededFuture(
        new Page<>(
            parkedRows.values().stream()
                .filter(row -> filter.key() == null || filter.key().equals(row.text("key")))
                .limit(page.limit())
                .toList(),
            null));
  }

  /** A line, later than those before. */
  public void audited(String actor, String action, String eventId, String evidence) {
    long id = auditLog.size() + 1L;
    auditLog.add(
        row(
            "at",
            NOW.plusSeconds(id),
            "actor",
            actor,
            "action",
            action,
            "consumer",
            action.startsWith("outbox") ? null : "mail",
            "event_id",
            eventId,
            "generation",
            1L,
            "fence",
            id,
            "evidence",
            evidence,
            "detail",
            "dead_letter=7 reason=retries_exhausted",
            "id",
            id));
  }

  @Override
  public Future<Page<ViewRow>> list(AuditFilter filter, Page.Request page) {
    JsonArray after = Cursor.read(page.after(), 1);
    long below = after == null ? Long.MAX_VALUE : Cursor.number(after, 0);
    List<ViewRow> found = new ArrayList<>(auditLog);
    found.removeIf(
        row ->
            row.number("id") >= below
                || filter.actor() != null && !filter.actor().equals(row.text("actor"))
                || filter.action() != null && !filter.action().equals(row.text("action"))
                || filter.event().consumer() != null
                    && !filter.event().consumer().equals(row.text("consumer"))
                || filter.event().eventId() != null
                    && !filter.event().eventId().equals(row.text("event_id")));
    java.util.Collections.reverse(found);
    boolean more = found.size() > page.limit();
    List<ViewRow> items = more ? found.subList(0, page.limit()) : found;
    return Future.succeededFuture(
        new Page<>(items, more ? Cursor.of(items.get(items.size() - 1).number("id")) : null));
  }

  @Override
  public Future<List<ViewRow>> ofKey(String key, int limit) {
    return Future.succeededFuture(
        parkedRows.values().stream().filter(row -> key.equals(row.text("key"))).toList());
  }

  @Override
  public Future<List<ViewRow>> ofSeq(long seq) {
    ViewRow row = parkedRows.get(seq);
    return Future.succeededFuture(row == null ? List.of() : List.of(row));
  }

  @Override
  public Future<List<Long>> request(ParkedRequest asked, List<Long> seqs) {
    ParkedRequest.Target to = asked.to();
    requested.add(
        asked.action()
            + " "
            + seqs
            + " "
            + asked.by().operator()
            + " "
            + (to == null ? "" : to.exchange())
            + (asked.by().note() == null ? "" : " because " + asked.by().note()));
    return Future.succeededFuture(seqs);
  }

  @Override
  public Future<Void> noted(ReplayRequest request, Who by, Long rows) {
    replays.add(by.operator() + " " + by.note() + " " + rows);
    return Future.succeededFuture();
  }

  @Override
  public Future<Instant> now() {
    return Future.succeededFuture(NOW);
  }

  @Override
  public Future<Step> step(ReplayRequest request, String after, int limit) {
    long done = after == null ? 0 : Long.parseLong(after);
    long rows = Math.min(limit, replayable - done);
    return Future.succeededFuture(
        new Step(rows, done + rows < replayable ? Long.toString(done + rows) : null));
  }

  @Override
  public Future<Void> pause(Duration time) {
    pauses.add(time);
    return Future.succeededFuture();
  }
}
