package dev.fencepost.operations;

import io.vertx.core.Future;
import java.util.List;

/** Port: writes down what operators want done with parked rows; their lane's owner does it. */
public interface ParkedRequests {

  /**
   * Records the request for each row that is still parked, and the audit entry, in one transaction.
   *
   * @param seqs the rows that are meant
   * @return the seqs it was recorded for
   */
  Future<List<Long>> request(ParkedRequest asked, List<Long> seqs);
}
