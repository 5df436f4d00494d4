package dev.fencepost.admin;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Errors as {@code application/problem+json} (RFC 9457). */
final class Problem {
  private static final Logger log = LoggerFactory.getLogger(Problem.class);

  private Problem() {}

  /** Failure handler of all routes; who is not admitted is told of a failure's kind alone. */
  static void send(RoutingContext context, Access access) {
    Throwable cause = context.failure();
    if (cause instanceof FencepostException known) {
      String kind = known.kind().wire();
      String detail = access.admits(context) ? message(known) : kind;
      send(context, status(known.kind()), kind, detail);
    } else if (cause instanceof TimeoutException) {
      send(context, 503, "timeout", "no answer in time; what was asked for may still happen");
    } else if (context.statusCode() >= 400 && context.statusCode() < 500) {
      send(context, context.statusCode(), kind(context.statusCode()), said(context));
    } else {
      log.error("admin request failed path={}", context.normalizedPath(), cause);
      send(context, 500, "internal", "an error of this program; its log says more");
    }
  }

  static void send(RoutingContext context, int status, String kind, String detail) {
    HttpServerResponse response = context.response();
    if (response.ended() || response.headWritten()) {
      return;
    }
    if (status == 429 || status == 503) {
      response.putHeader("Retry-After", "1");
    }
    if (status == 401) {
      response.putHeader("WWW-Authenticate", "Bearer realm=\"fencepost\"");
    }
    response
        .setStatusCode(status)
        .putHeader("Content-Type", "application/problem+json")
        .end(
            new JsonObject()
                .put("type", "urn:fencepost:problem:" + kind)
                .put("title", HttpResponseStatus.valueOf(status).reasonPhrase())
                .put("status", status)
                .put("detail", detail)
                .put("kind", kind)
                .toBuffer());
  }

  private static String message(FencepostException known) {
    return known.getMessage() == null ? known.kind().wire() : known.getMessage();
  }

  static int status(FailureKind kind) {
    return switch (kind) {
      case INVALID_INPUT -> 400;
      case NOT_FOUND -> 404;
      case STALE -> 409;
      case DATABASE_UNREACHABLE,
          DATABASE_READ_ONLY,
          DATABASE_AUTHENTICATION,
          DATABASE_RIGHTS,
          DATABASE_CONFLICT,
          SCHEMA_MISSING,
          SCHEMA_MISMATCH,
          BROKER_UNREACHABLE,
          BROKER_BLOCKED,
          TIMEOUT ->
          503;
      default -> 500;
    };
  }

  private static String kind(int status) {
    return switch (status) {
      case 401 -> "unauthorized";
      case 403 -> "forbidden";
      case 404 -> "not_found";
      case 405 -> "method_not_allowed";
      case 413 -> "too_large";
      case 415 -> "unsupported_media_type";
      case 429 -> "too_many_requests";
      default -> "invalid_input";
    };
  }

  private static String said(RoutingContext context) {
    String path = context.normalizedPath();
    return switch (context.statusCode()) {
      case 404 -> "there is nothing at " + path;
      case 405 -> context.request().method() + " is not allowed at " + path;
      case 413 -> "the body is larger than " + AdminVerticle.MAX_BODY + " bytes";
      default -> orElse(context.failure(), "the request cannot be understood");
    };
  }

  private static String orElse(@Nullable Throwable cause, String otherwise) {
    return cause == null || cause.getMessage() == null ? otherwise : cause.getMessage();
  }
}
