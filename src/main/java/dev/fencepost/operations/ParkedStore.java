package dev.fencepost.operations;

import io.vertx.core.Future;
import java.util.List;

/** Port: parked rows to read. */
public interface ParkedStore {

  /** By lane and seq. */
  Future<Page<ViewRow>> list(ParkedFilter filter, Page.Request page);

  /** Rows of a key in order, at most {@code limit}. */
  Future<List<ViewRow>> ofKey(String key, int limit);

  /** The row of a seq, or none. */
  Future<List<ViewRow>> ofSeq(long seq);
}
