package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import io.vertx.core.Future;
import java.util.List;

/** Reads the pages of a batch, one after the other. */
final class LaneReader {
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
          .late(new OutboxStore.LateRequest(life, lane, batch.start().old()))
          .compose(
              spans -> {
                batch.lateFound(spans);
                return next(batch, limit);
              });
    }
    return store
        .page(batch.next(life, lane, limit))
        .map(
            page -> {
              pageRead(batch, page, limit);
              return page;
            });
  }

  static void pageRead(Batch batch, List<OutboxRow> page, OutboxStore.Limit limit) {
    long last = page.isEmpty() ? 0 : page.get(page.size() - 1).seq();
    batch.pageRead(last, limit.reached(page));
  }
}
