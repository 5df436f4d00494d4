package dev.fencepost.api;

import io.vertx.core.Future;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a handler may know of its event and of this start, and what it may record. */
public interface ActivityContext {

  /** The business event's id: the same in every delivery, retry and process. */
  String eventId();

  /** The consumer's name in the configuration. */
  String consumer();

  String type();

  /** The ordering key, or null when the event has none. */
  @Nullable String key();

  /** The body, byte for byte. The array is not to be changed. */
  byte[] body();

  /** AMQP headers, with their types. */
  Map<String, Object> headers();

  /** Basic properties by their AMQP name, such as {@code content_type}. */
  Map<String, Object> properties();

  /** Rises with every owner. A remote that sees a lower fence than before may refuse the call. */
  long fence();

  /** Starts of this event in this generation, this one included; from 1. */
  int attempt();

  /** Rises when an operator redrives a dead letter; from 1. */
  int generation();

  /** When the soft limit passes, by the wall clock; for display, not for decisions. */
  Instant softLimitAt();

  /**
   * Completes when the soft limit passes or the worker is shutting down: end well, soon. Never
   * fails.
   */
  Future<Void> softLimit();

  /**
   * Records the receipt ahead of the handler's return, durably and under the fence, so that a crash
   * in between is recovered as done. Recording the same outcome twice is harmless.
   *
   * @return fails when the lease was lost: stop, another owner has taken over
   */
  Future<Void> recordReceipt(Receipt receipt);

  /**
   * Tells progress, stored with the next renewal. A heartbeat is not progress: only a higher {@code
   * seq} resets the silence that {@code progress-timeout} measures.
   */
  void progress(long seq, String phase);
}
