package dev.fencepost.bench;

import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How fast a queue is worked off: it is filled while the worker is frozen, and its depth is watched
 * from nine tenths to one tenth. The round fails unless every message then has its result. Where
 * messages go to a store of jobs first, results are counted instead, from the moment that the worker
 * is let go: to store the jobs is its work, too.
 */
final class WorkerThroughput extends ContenderEntrant<Worker> {

  private static final int SIZE = 256;

  /** Five times what a worker has in hand. */
  private static final int FEWEST = 20_000;

  private static final int FEWEST_JOBS = 1000;

  /** Counting results costs the contender's own PostgreSQL something. */
  private static final Duration COUNT_EVERY = Duration.ofMillis(200);

  private final int messages;

  WorkerThroughput(Worker worker, int messages) {
    super(worker);
    int fewest = worker.storesJobs() ? FEWEST_JOBS : FEWEST;
    this.messages = Math.max(fewest, (int) (messages * worker.share()));
  }

  @Override
  public void thaw() {
    // The queue is filled first.
  }

  @Override
  public Map<String, Double> round(int number) {
    Queue queue = contender.queue();
    // Returns once all are confirmed. How many are ready says nothing: a frozen consumer is sent
    // as many as it asked for.
    queue.fill("round-" + number, messages, SIZE, Worker.ACTIVITY);
    contender.database().resume();
    contender.forgetResults();
    long before = contender.results();
    contender.database().forgetStatements();
    super.thaw();
    Map<String, Double> figures =
        contender.storesJobs() ? stored(before) : workedOff(() -> believed(queue));
    figures.put(Figures.STATEMENTS, statementsPer(messages * 0.9));
    figures.put(Figures.MEMORY, memory());
    if (contender.leavesResults()) {
      until("every message has its result", () -> contender.results() - before >= messages);
    }
    return figures;
  }

  private Map<String, Double> workedOff(LongSupplier left) {
    Figures.Moment from = passes(left, count -> count <= messages * 9 / 10);
    return Figures.between(from, passes(left, count -> count <= messages / 10));
  }

  private Map<String, Double> stored(long before) {
    Figures.Moment from = passes(() -> 0, count -> true);
    LongSupplier done = () -> contender.results() - before;
    return Figures.between(from, passes(done, count -> count >= messages * 9 / 10, COUNT_EVERY));
  }

  /** A quorum queue that is too busy to answer says 0, so only a repeated 0 is one. */
  private static long believed(Queue queue) {
    long depth = queue.depth();
    for (int i = 0; i < 3 && depth == 0; i++) {
      depth = queue.depth();
    }
    return depth;
  }
}
