package dev.fencepost.tracing;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.Receipt;
import io.opentelemetry.api.trace.Span;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A run's context whose headers carry the run's span on. */
record TracedContext(ActivityContext run, Span span, Map<String, Object> headers)
    implements ActivityContext {

  @Override
  public String eventId() {
    return run.eventId();
  }

  @Override
  public String consumer() {
    return run.consumer();
  }

  @Override
  public String type() {
    return run.type();
  }

  @Override
  public @Nullable String key() {
    return run.key();
  }

  @Override
  public byte[] body() {
    return run.body();
  }

  @Override
  public Map<String, Object> properties() {
    return run.properties();
  }

  @Override
  public long fence() {
    return run.fence();
  }

  @Override
  public int attempt() {
    return run.attempt();
  }

  @Override
  public int generation() {
    return run.generation();
  }

  @Override
  public Instant softLimitAt() {
    return run.softLimitAt();
  }

  @Override
  public Future<Void> softLimit() {
    return run.softLimit();
  }

  @Override
  public Future<Void> recordReceipt(Receipt receipt) {
    return run.recordReceipt(receipt);
  }

  @Override
  public void progress(long seq, String phase) {
    run.progress(seq, phase);
  }
}
