package dev.fencepost.relay;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A broker that does nothing but what a test has it do, on the test's own turn. */
final class HandPublisher implements Publisher {
  /** Batches as they were written, on whichever channel. */
  final List<List<Long>> written = new ArrayList<>();

  private @Nullable Listener listener;

  @Override
  public Future<PublishChannel> open(String name, TrustDeadline trust, Listener listener) {
    this.listener = listener;
    return Future.succeededFuture(
        new PublishChannel() {
          @Override
          public void publish(List<OutboxRow> rows) {
            written.add(rows.stream().map(OutboxRow::seq).toList());
          }

          @Override
          public Future<Void> close() {
            return Future.succeededFuture();
          }
        });
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  /** The broker confirms a row. */
  void confirm(long seq) {
    listening().settled(List.of(Verdict.confirmed(seq)));
  }

  /** A row is refused, and the channel stays open. */
  void refuseOne(long seq, ParkedReason reason) {
    listening().settled(List.of(new Verdict(seq, reason, null)));
  }

  /** The broker closes the channel for what was written there. */
  void refuse(ParkedReason reason) {
    listening()
        .closed(new FencepostException(FailureKind.CHANNEL_CLOSED, "closed by the broker"), reason);
  }

  /** Nothing is heard of what was written there. */
  void silence() {
    listening().closed(new FencepostException(FailureKind.TIMEOUT, "no confirm"), null);
  }

  private Listener listening() {
    Listener current = listener;
    if (current == null) {
      throw new IllegalStateException("no channel was opened");
    }
    return current;
  }

  /** A lane that nothing else happens to. */
  static LaneLoop.Lane lane() {
    LaneStore.Taken taken =
        new LaneStore.Taken(
            "life",
            new Checkpoint(0, 0, 0, -1, new Cursor(Snapshot.of(10), 0, Map.of(), null, 0)),
            1,
            Set.of(),
            Set.of(),
            Set.of(),
            Map.of());
    long trust = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
    return new LaneLoop.Lane(
        taken,
        () -> trust,
        new ParkedTotal(100),
        new ParkedLog(line -> {}, line -> {}, System::nanoTime),
        () -> {},
        fault -> {});
  }

  static OutboxRow row(long seq, String exchange, String routingKey) {
    return new OutboxRow(
        new OutboxRow.Position(10, seq, 0),
        new OutboxRow.Route(exchange, routingKey),
        "event-" + seq,
        "t",
        null,
        new OutboxRow.Message(new byte[0], "text/plain", "{}", "{}"));
  }
}
