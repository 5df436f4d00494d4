package dev.fencepost.handlers;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.ProbeResult;
import dev.fencepost.api.Receipt;
import dev.fencepost.config.ActivityConfig.Handler;
import dev.fencepost.decide.FailureClasses;
import dev.fencepost.handlers.HttpExchange.Answer;
import dev.fencepost.handlers.HttpExchange.Call;
import dev.fencepost.model.RunFailure;
import dev.fencepost.model.StorableText;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Calls a remote for each event; 2xx is done. */
final class HttpActivity implements ActivityHandler {
  private static final int SHOWN_OF_BODY = 500;
  private static final Duration PROBE_WITHIN = Duration.ofSeconds(10);

  private final Vertx vertx;
  private final HttpClient client;
  private final RemoteBreaker breaker;
  private final Handler.Http config;
  private final HttpTarget target;
  private final HttpRequests requests;
  private volatile Duration hardLimit;

  HttpActivity(
      Vertx vertx,
      HttpClient client,
      RemoteBreaker breaker,
      Handler.Http config,
      Duration hardLimit) {
    this.vertx = vertx;
    this.client = client;
    this.breaker = breaker;
    this.config = config;
    this.target = new HttpTarget(config.url());
    String secret = config.secret();
    this.requests =
        new HttpRequests(secret == null ? null : new WebhookSignature(secret), Clock.systemUTC());
    this.hardLimit = hardLimit;
  }

  /** For calls from now on. */
  void hardLimit(Duration limit) {
    hardLimit = limit;
  }

  @Override
  public Future<Receipt> run(ActivityContext context) {
    Duration deadline = hardLimit;
    Call call =
        new Call(
            target,
            requests.post(target, context, deadline),
            Buffer.buffer(context.body()),
            deadline);
    return breaker
        .execute(() -> HttpExchange.run(vertx, client, call))
        .compose(answer -> receipt(answer));
  }

  @Override
  public Future<ProbeResult> probe(ActivityContext context) {
    String template = config.probe();
    if (template == null) {
      return Future.succeededFuture(ProbeResult.unknown("no probe is configured"));
    }
    String id = URLEncoder.encode(context.eventId(), StandardCharsets.UTF_8).replace("+", "%20");
    HttpTarget asked = new HttpTarget(URI.create(template.replace("{event_id}", id)));
    Duration deadline = hardLimit.compareTo(PROBE_WITHIN) < 0 ? hardLimit : PROBE_WITHIN;
    Call call =
        new Call(asked, requests.probe(asked, context, deadline), Buffer.buffer(), deadline);
    return HttpExchange.run(vertx, client, call)
        .map(ProbeAnswer::of)
        .otherwise(failure -> ProbeResult.unknown(failure.getMessage()));
  }

  private Future<Receipt> receipt(Answer answer) {
    int status = answer.status();
    if (status >= 200 && status < 300) {
      return Future.succeededFuture(Receipt.succeeded(storable(answer.body())));
    }
    String body = answer.body();
    String said = body.isEmpty() ? "" : ": " + StorableText.of(body, SHOWN_OF_BODY);
    return Future.failedFuture(
        new RunFailure(
            FailureClasses.ofHttpStatus(status),
            "HTTP " + status + " from " + target.shown() + said,
            RetryAfter.parse(answer.retryAfter(), Clock.systemUTC().instant()),
            null));
  }

  private static @Nullable String storable(String body) {
    return body.isEmpty() ? null : StorableText.of(body, HttpExchange.BODY_AT_MOST);
  }
}
