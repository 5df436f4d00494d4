package dev.fencepost.tracing;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.ProbeResult;
import dev.fencepost.api.Receipt;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.worker.BoundHandler;
import dev.fencepost.worker.HandlerSource;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A span from the call of a handler to its return, current while it is called. What has not
 * returned by its hard limit ends there: the worker waits for it no longer either.
 */
final class TracedHandlers implements HandlerSource {

  private static final String LATE = "hard_limit";

  private final HandlerSource source;
  private final Tracer tracer;
  private final Map<String, ActivityConfig.Timing> timings = new ConcurrentHashMap<>();

  TracedHandlers(HandlerSource source, Tracer tracer) {
    this.source = source;
    this.tracer = tracer;
  }

  @Override
  public BoundHandler handlerFor(QueueConfig queue, ActivityConfig activity) {
    BoundHandler bound = source.handlerFor(queue, activity);
    timings.put(name(queue.name(), activity.type()), activity.timing());
    if (bound instanceof BoundHandler.Async async) {
      return new BoundHandler.Async(new Async(async.handler()), async.admission());
    }
    if (bound instanceof BoundHandler.Blocking blocking) {
      return new BoundHandler.Blocking(new Blocking(blocking.handler()));
    }
    BoundHandler.Effect effect = (BoundHandler.Effect) bound;
    return new BoundHandler.Effect(
        (context, transaction) ->
            future("run", context, traced -> effect.handler().run(traced, transaction)));
  }

  /** After a reload: later runs end at the new limits. */
  void reloaded(FencepostConfig config) {
    for (QueueConfig queue : config.queues().values()) {
      for (ActivityConfig activity : queue.activities().values()) {
        timings.computeIfPresent(
            name(queue.name(), activity.type()), (name, before) -> activity.timing());
      }
    }
  }

  private static String name(String queue, String type) {
    return queue + " " + type;
  }

  private interface Call<T> {
    T on(ActivityContext traced);
  }

  private final class Async implements ActivityHandler {
    private final ActivityHandler handler;

    Async(ActivityHandler handler) {
      this.handler = handler;
    }

    @Override
    public Future<Receipt> run(ActivityContext context) {
      return future("run", context, handler::run);
    }

    @Override
    public Future<ProbeResult> probe(ActivityContext context) {
      return future("probe", context, handler::probe);
    }
  }

  private final class Blocking implements BlockingActivityHandler {
    private final BlockingActivityHandler handler;

    Blocking(BlockingActivityHandler handler) {
      this.handler = handler;
    }

    @Override
    public Receipt run(ActivityContext context) throws Exception {
      TracedContext traced = begin("run", context);
      return call(traced.span(), () -> handler.run(traced));
    }

    @Override
    public ProbeResult probe(ActivityContext context) throws Exception {
      TracedContext traced = begin("probe", context);
      return call(traced.span(), () -> handler.probe(traced));
    }
  }

  private <T> Future<T> future(
      String what, ActivityContext context, Call<@Nullable Future<T>> handler) {
    TracedContext traced = begin(what, context);
    Future<T> result;
    try (Scope current = Context.root().with(traced.span()).makeCurrent()) {
      result = handler.on(traced);
    } catch (RuntimeException | Error e) {
      end(traced.span(), e);
      throw e;
    }
    if (result == null) {
      NullPointerException nothing = new NullPointerException("the handler returned null");
      end(traced.span(), nothing);
      return Future.failedFuture(nothing);
    }
    return result.onComplete(done -> end(traced.span(), done.cause()));
  }

  private static <T> T call(Span span, Callable<T> handler) throws Exception {
    try (Scope current = Context.root().with(span).makeCurrent()) {
      T result = handler.call();
      end(span, null);
      return result;
    } catch (Exception | Error e) {
      end(span, e);
      throw e;
    }
  }

  private TracedContext begin(String what, ActivityContext context) {
    Context parent = TraceHeaders.parent(context.headers());
    Span span =
        tracer
            .spanBuilder(what + " " + context.type())
            .setSpanKind(SpanKind.CONSUMER)
            .setParent(parent)
            .setAttribute("messaging.system", "rabbitmq")
            .setAttribute("messaging.operation.name", what)
            .setAttribute("messaging.message.id", context.eventId())
            .setAttribute("fencepost.consumer", context.consumer())
            .setAttribute("fencepost.type", context.type())
            .setAttribute("fencepost.attempt", context.attempt())
            .setAttribute("fencepost.generation", context.generation())
            .setAttribute("fencepost.fence", context.fence())
            .startSpan();
    context.softLimit().onSuccess(v -> endLate(context, span));
    return new TracedContext(
        context, span, TraceHeaders.with(context.headers(), parent.with(span)));
  }

  /** At the soft limit, which few runs live to see: no timer for all the others. */
  private void endLate(ActivityContext context, Span span) {
    ActivityConfig.Timing timing = timings.get(name(context.consumer(), context.type()));
    if (timing != null && span.isRecording()) {
      Duration left = timing.hard().minus(timing.soft());
      CompletableFuture.delayedExecutor(left.toMillis(), TimeUnit.MILLISECONDS)
          .execute(
              () -> {
                if (span.isRecording()) {
                  span.setStatus(StatusCode.ERROR).setAttribute("error.type", LATE).end();
                }
              });
    }
  }

  /** An error's text may hold what is nobody's business: its class alone. */
  private static void end(Span span, @Nullable Throwable error) {
    if (!span.isRecording()) {
      return;
    }
    if (error != null) {
      span.setStatus(StatusCode.ERROR).setAttribute("error.type", error.getClass().getName());
    }
    span.end();
  }
}
