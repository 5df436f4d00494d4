package dev.fencepost.bench;

/** Consumes a queue and leaves a result for every message in its database. */
abstract class Worker extends Contender {

  static final String ACTIVITY = "order.placed";

  Worker(String name, String settings, Servers servers) {
    super(name, settings, servers, "quorum");
  }

  /** Results in the database, of all rounds. */
  abstract long results();

  /** To count them costs more the more there are, where they are counted while it is measured. */
  void forgetResults() {}

  boolean leavesResults() {
    return true;
  }

  /** Takes messages off the queue long before their work is done. */
  boolean storesJobs() {
    return false;
  }
}
