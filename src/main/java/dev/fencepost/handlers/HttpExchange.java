package dev.fencepost.handlers;

import dev.fencepost.model.RunEvent;
import dev.fencepost.model.RunFailure;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.RequestOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer, on the caller's context: {@code CONNECTING} (nothing has been sent:
 * whatever happens, it did not happen) → {@code SENT} (the remote may have acted) → {@code
 * ANSWERED} (the status says what it did; what is missing of the body changes nothing).
 */
final class HttpExchange {
  /** What is read of an answer's body; the rest is not waited for. */
  static final int BODY_AT_MOST = 16 * 1024;

  private static final Duration BODY_WITHIN = Duration.ofSeconds(5);

  private enum Phase {
    CONNECTING,
    SENT,
    ANSWERED
  }

  /**
   * @param body its first {@value #BODY_AT_MOST} bytes, as UTF-8
   */
  record Answer(int status, @Nullable String retryAfter, String body) {}

  /** What to send, and how long it may take until the answer's head. */
  record Call(HttpTarget target, RequestOptions options, Buffer body, Duration deadline) {}

  private final Vertx vertx;
  private final Call call;
  private final Promise<Answer> outcome = Promise.promise();
  private final Buffer gathered = Buffer.buffer();
  private Phase phase = Phase.CONNECTING;
  private @Nullable HttpClientRequest request;
  private @Nullable HttpClientResponse response;

  private HttpExchange(Vertx vertx, Call call) {
    this.vertx = vertx;
    this.call = call;
  }

  /** Fails with a {@link RunFailure} only. */
  static Future<Answer> run(Vertx vertx, HttpClient client, Call call) {
    HttpExchange exchange = new HttpExchange(vertx, call);
    long timer = vertx.setTimer(Math.max(1, call.deadline().toMillis()), t -> exchange.expired());
    client.request(call.options()).onComplete(exchange::connected);
    return exchange.outcome.future().eventually(() -> exchange.done(timer));
  }

  private Future<Void> done(long timer) {
    vertx.cancelTimer(timer);
    return Future.succeededFuture();
  }

  private void connected(AsyncResult<HttpClientRequest> connected) {
    if (connected.failed()) {
      Throwable cause = connected.cause();
      fail(ConnectFailures.event(cause, call.target().tls()), "cannot connect to", cause);
      return;
    }
    request = connected.result();
    request.exceptionHandler(lost -> {}); // told through the answer's future
    if (outcome.future().isComplete()) {
      request.reset();
      return;
    }
    phase = Phase.SENT;
    request.send(call.body()).onComplete(this::answered);
  }

  private void answered(AsyncResult<HttpClientResponse> answered) {
    if (answered.failed()) {
      fail(
          RunEvent.CONNECTION_LOST_AFTER_SEND,
          "connection lost after sending to",
          answered.cause());
      return;
    }
    phase = Phase.ANSWERED;
    HttpClientResponse answer = answered.result();
    response = answer;
    long timer = vertx.setTimer(BODY_WITHIN.toMillis(), t -> cut());
    outcome.future().onComplete(any -> vertx.cancelTimer(timer));
    answer.exceptionHandler(lost -> complete());
    answer.endHandler(end -> complete());
    answer.handler(this::read);
  }

  private void read(Buffer chunk) {
    int room = BODY_AT_MOST - gathered.length();
    gathered.appendBuffer(chunk, 0, Math.min(room, chunk.length()));
    if (chunk.length() > room) {
      cut();
    }
  }

  private void expired() {
    switch (phase) {
      case CONNECTING -> fail(RunEvent.CONNECTION_REFUSED, "no connection in time to", null);
      case SENT -> {
        fail(RunEvent.NO_ANSWER_BY_HARD_LIMIT, "no answer by the hard limit from", null);
        reset();
      }
      case ANSWERED -> cut();
    }
  }

  private void cut() {
    complete();
    reset();
  }

  private void reset() {
    if (request != null) {
      request.reset();
    }
  }

  private void complete() {
    if (response != null) {
      String body = gathered.toString(StandardCharsets.UTF_8);
      outcome.tryComplete(
          new Answer(response.statusCode(), response.getHeader("retry-after"), body));
    }
  }

  private void fail(RunEvent event, String what, @Nullable Throwable cause) {
    String detail = cause == null ? "" : ": " + cause.getMessage();
    outcome.tryFail(
        new RunFailure(event, what + " " + call.target().shown() + detail, null, cause));
  }
}
