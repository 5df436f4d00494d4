package dev.fencepost.worker;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.decide.RetryBudget;
import io.vertx.core.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the fleet's counters before retries start. Reserves first and gives back what is not allowed
 * or not used, so that several processes together stay within the budget too.
 */
final class RetryBudgets {
  private static final Logger LOG = LoggerFactory.getLogger(RetryBudgets.class);

  private final WorkerEnv env;

  RetryBudgets(WorkerEnv env) {
    this.env = env;
  }

  /**
   * Retries that may start.
   *
   * @param second in which they were counted, negative where the type has no budget
   */
  record Reservation(int allowed, long second) {
    static final Reservation NONE = new Reservation(0, -1);
  }

  /** How many of {@code wanted} retries may start; all where the type has no budget. */
  Future<Reservation> reserve(TypeLane lane, int wanted) {
    ActivityConfig.RetryBudget budget = lane.config().retryBudget();
    if (budget == null || wanted == 0) {
      return Future.succeededFuture(new Reservation(wanted, -1));
    }
    long asked = env.timers().nanos();
    long[] first = lane.firstStarts.take(asked);
    return env.store()
        .countStarts(lane.queueName(), lane.type(), first, wanted)
        .onFailure(e -> lane.firstStarts.putBack(first, asked, env.timers().nanos()))
        .map(
            fleet -> {
              long available =
                  RetryBudget.available(
                      fleet.firstStarts(),
                      fleet.retries() - wanted,
                      budget.ratio(),
                      budget.minPerSecond(),
                      RetryBudget.WINDOW);
              int allowed = RetryBudget.admit(wanted, available);
              giveBack(lane, new Reservation(allowed, fleet.second()), wanted - allowed);
              return new Reservation(allowed, fleet.second());
            });
  }

  /** Retries that were reserved and have not started. */
  void giveBack(TypeLane lane, Reservation reserved, int retries) {
    if (reserved.second() >= 0 && retries > 0) {
      env.store()
          .uncountRetries(lane.queueName(), lane.type(), reserved.second(), retries)
          .onFailure(e -> LOG.debug("a reservation of {} stays: {}", retries, e.toString()));
    }
  }
}
