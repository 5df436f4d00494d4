package dev.fencepost.bench;

import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How fast a queue is worked off: it is filled while the worker is frozen, and its depth is watched
 * from nine tenths to one tenth. The round fails unless every message then has its result. Where
 * messages go to a store of jobs first, results are counted instead.
 */
final class WorkerThroughput extends ContenderEntrant<Worker> {

  private static final int SIZE = 256;

  /** Several times what a worker has in hand. */
  private static final int FEWEST = 5000;

  private final int messages;

  WorkerThroughput(Worker worker, int messages) {
    super(worker);
    this.messages = Math.max(FEWEST, (int) (messages * worker.share()));
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
    long before = contender.results();
    contender.database().forgetStatements();
    super.thaw();
    LongSupplier left =
        contender.storesJobs()
            ? () -> messages - (contender.results() - before)
            : () -> believed(queue);
    Figures.Moment from = passes(left, count -> count <= messages * 9 / 10);
    Figures.Moment to = passes(left, count -> count <= messages / 10);
    Map<String, Double> figures = Figures.between(from, to);
    figures.put(Figures.STATEMENTS, statementsPer(messages * 0.9));
    figures.put(Figures.MEMORY, memory());
    if (contender.leavesResults()) {
      until("every message has its result", () -> contender.results() - before >= messages);
    }
    return figures;
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
