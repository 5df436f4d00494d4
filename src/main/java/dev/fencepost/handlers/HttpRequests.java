package dev.fencepost.handlers;

import dev.fencepost.api.ActivityContext;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Writes the heads of requests: identity, fence, signature. */
final class HttpRequests {
  private static final String NO_CONTENT_TYPE = "application/octet-stream";

  private final @Nullable WebhookSignature signature;
  private final Clock clock;

  /**
   * @param clock the wall clock, for the time that is signed
   */
  HttpRequests(@Nullable WebhookSignature signature, Clock clock) {
    this.signature = signature;
    this.clock = clock;
  }

  RequestOptions post(HttpTarget target, ActivityContext context, Duration deadline) {
    RequestOptions request = head(target.request(HttpMethod.POST, deadline), context);
    Object type = context.properties().get("content_type");
    boolean fits = type != null && HeaderText.isValue(type.toString());
    request.putHeader("content-type", fits ? String.valueOf(type) : NO_CONTENT_TYPE);
    pass(request, "content-encoding", context.properties().get("content_encoding"));
    sign(request, context, context.body());
    return request;
  }

  RequestOptions probe(HttpTarget target, ActivityContext context, Duration deadline) {
    RequestOptions request = head(target.request(HttpMethod.GET, deadline), context);
    request.putHeader("accept", "application/json");
    sign(request, context, new byte[0]);
    return request;
  }

  private static RequestOptions head(RequestOptions request, ActivityContext context) {
    request.putHeader("idempotency-key", HeaderText.of(context.eventId()));
    request.putHeader("fencepost-fence", String.valueOf(context.fence()));
    request.putHeader("fencepost-attempt", String.valueOf(context.attempt()));
    request.putHeader("fencepost-generation", String.valueOf(context.generation()));
    request.putHeader("fencepost-consumer", HeaderText.of(context.consumer()));
    request.putHeader("fencepost-type", HeaderText.of(context.type()));
    String key = context.key();
    if (key != null) {
      request.putHeader("fencepost-key", HeaderText.of(key));
    }
    request.putHeader("user-agent", "fencepost");
    pass(request, "traceparent", context.headers().get("traceparent"));
    pass(request, "tracestate", context.headers().get("tracestate"));
    return request;
  }

  private void sign(RequestOptions request, ActivityContext context, byte[] body) {
    if (signature != null) {
      String id = HeaderText.of(context.eventId());
      long now = clock.instant().getEpochSecond();
      request.putHeader("webhook-id", id);
      request.putHeader("webhook-timestamp", String.valueOf(now));
      request.putHeader("webhook-signature", signature.sign(id, now, body));
    }
  }

  private static void pass(RequestOptions request, String name, @Nullable Object value) {
    if (value != null && HeaderText.isValue(value.toString())) {
      request.putHeader(name, value.toString());
    }
  }
}
