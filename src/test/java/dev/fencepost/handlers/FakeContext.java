package dev.fencepost.handlers;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.Receipt;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

/** What a handler gets, made by hand. */
record FakeContext(
    String eventId,
    String type,
    String key,
    byte[] body,
    Map<String, Object> headers,
    Map<String, Object> properties)
    implements ActivityContext {

  static FakeContext of(String eventId, String body) {
    return new FakeContext(
        eventId,
        "order.placed",
        "order-7",
        body.getBytes(StandardCharsets.UTF_8),
        Map.of("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        Map.of("content_type", "application/json; charset=utf-8"));
  }

  FakeContext withBody(byte[] bytes) {
    return new FakeContext(eventId, type, key, bytes, headers, properties);
  }

  FakeContext withHeaders(Map<String, Object> other) {
    return new FakeContext(eventId, type, key, body, other, properties);
  }

  FakeContext withProperties(Map<String, Object> other) {
    return new FakeContext(eventId, type, key, body, headers, other);
  }

  @Override
  public String consumer() {
    return "notifications";
  }

  @Override
  public long fence() {
    return 5;
  }

  @Override
  public int attempt() {
    return 2;
  }

  @Override
  public int generation() {
    return 1;
  }

  @Override
  public Instant softLimitAt() {
    return Instant.EPOCH;
  }

  @Override
  public Future<Void> softLimit() {
    return Future.future(never -> {});
  }

  @Override
  public Future<Void> recordReceipt(Receipt receipt) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void progress(long seq, String phase) {
    throw new UnsupportedOperationException();
  }
}
