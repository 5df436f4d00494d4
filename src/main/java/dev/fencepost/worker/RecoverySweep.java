package dev.fencepost.worker;

import dev.fencepost.flow.Steps;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks the expired leases of one consumer in small pages, and has each decided for itself: one
 * that fails, or a probe that takes its time, holds up no other.
 */
final class RecoverySweep {
  private static final Logger LOG = LoggerFactory.getLogger(RecoverySweep.class);
  private static final int PAGE = 50;

  private final WorkerEnv env;
  private final Recovery recovery;
  private final QueueLoop loop;
  private @Nullable Evidence after;
  private @Nullable Duration told;

  RecoverySweep(WorkerEnv env, Recovery recovery, QueueLoop loop) {
    this.env = env;
    this.recovery = recovery;
    this.loop = loop;
  }

  /** One pass over all that is expired now. */
  Future<Void> tick() {
    after = null;
    return Steps.until(this::page);
  }

  /** Nothing is expired, and no pass is needed to know it. */
  void foundNothing() {
    tell(Duration.ZERO);
  }

  private void tell(Duration age) {
    if (!age.equals(told)) {
      told = age;
      env.events().oldestExpiredLease(loop.name(), age);
    }
  }

  private Future<Boolean> page() {
    boolean begins = after == null;
    return env.store()
        .expired(loop.name(), after, PAGE)
        .compose(
            page -> {
              if (begins) {
                tell(page.isEmpty() ? Duration.ZERO : page.get(0).lease().overdue());
              }
              boolean full = page.size() >= PAGE;
              after = full ? page.get(page.size() - 1) : null;
              return decide(page).map(done -> full && !env.admission().stopped());
            });
  }

  /** Locked by somebody, or no answer: nothing to be told each time. */
  private static void notNow(Evidence evidence, Throwable cause) {
    if (Failures.conflict(cause) || Failures.outage(cause)) {
      LOG.debug("{} is not recovered in this pass: {}", evidence.id(), cause.toString());
    } else {
      LOG.warn("{} could not be recovered, next pass again", evidence.id(), cause);
    }
  }

  private Future<Void> decide(List<Evidence> page) {
    List<Future<?>> decisions = new ArrayList<>(page.size());
    for (Evidence evidence : page) {
      Future<Boolean> decision =
          Guarded.call(() -> recovery.decide(evidence, loop.lane(evidence.type()), null))
              .recover(
                  e -> {
                    notNow(evidence, e);
                    return Future.succeededFuture(false);
                  });
      if (!env.active().probes(evidence.id())) {
        decisions.add(decision);
      }
    }
    return decisions.isEmpty() ? Future.succeededFuture() : Future.join(decisions).mapEmpty();
  }
}
