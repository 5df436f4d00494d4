package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import io.vertx.core.Future;
import java.util.List;

/** Reads the pages of a batch, one after the other. */
final class LaneReader {
  private static final int LATE_SEQS = 50_000;

  private final OutboxStore store;
  private final int lane;
  private final String life;

  LaneReader(OutboxStore store, int lane, String life) {
    this.store = store;
    this.lane = lane;
    this.life = life;
  }

  /** The next page; the batch knows afterwards how far it is read. */
  Future<List<OutboxRow>> next(Batch batch, OutboxStore.Limit limit) {
    if (batch.seeksLate()) {
      return store
          .late(batch.lateRequest(lane, LATE_SEQS))
          .compose(
              seqs -> {
                batch.lateFound(seqs, LATE_SEQS);
                return next(batch, limit);
              });
    }
    List<Long> chunk = batch.lateChunk(limit.rows());
    if (!chunk.isEmpty()) {
      return store
          .rows(lane, life, chunk, limit.bytes())
          .onSuccess(page -> batch.lateRead(page.size()));
    }
    return store
        .page(new OutboxStore.PageRequest(life, batch.next(lane, limit), batch.cur()))
        .onSuccess(page -> pageRead(batch, page, limit));
  }

  static void pageRead(Batch batch, List<OutboxRow> page, OutboxStore.Limit limit) {
    long last = page.isEmpty() ? 0 : page.get(page.size() - 1).seq();
    batch.pageRead(last, limit.reached(page));
  }
}
