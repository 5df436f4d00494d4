package dev.fencepost.rabbit;

import io.vertx.core.Context;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries events from any thread to a context, in order, with one drain task pending at a time:
 * under load many events cost one {@code runOnContext}.
 */
final class ContextInbox<T> {

  private static final Logger LOG = LoggerFactory.getLogger(ContextInbox.class);

  /** Events handled before others on the event loop get their turn. */
  private static final int DRAIN_MAX = 4096;

  private final Context context;
  private final Consumer<T> handler;
  private final Runnable drained;
  private final Consumer<Throwable> failed;
  private final ConcurrentLinkedQueue<T> events = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean pending = new AtomicBoolean();

  /**
   * @param handler called on the context for each event
   * @param drained called on the context after each run of events
   */
  ContextInbox(Context context, Consumer<T> handler, Runnable drained) {
    this(context, handler, drained, fault -> {});
  }

  /**
   * @param failed told, on the context, when one of the two failed
   */
  ContextInbox(Context context, Consumer<T> handler, Runnable drained, Consumer<Throwable> failed) {
    this.context = context;
    this.handler = handler;
    this.drained = drained;
    this.failed = failed;
  }

  void post(T event) {
    events.add(event);
    schedule();
  }

  private void schedule() {
    if (pending.compareAndSet(false, true)) {
      BrokerThreads.onContext(context, this::drain);
    }
  }

  private void drain() {
    pending.set(false);
    for (int n = 0; n < DRAIN_MAX; n++) {
      T event = events.poll();
      if (event == null) {
        break;
      }
      guarded(() -> handler.accept(event));
    }
    guarded(drained);
    if (!events.isEmpty()) {
      schedule();
    }
  }

  /** One faulty listener must not cost the events behind it. */
  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable t) {
      LOG.error("listener failed", t);
      failed.accept(t);
    }
  }
}
