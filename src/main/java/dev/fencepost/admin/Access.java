package dev.fencepost.admin;

import dev.fencepost.config.Loopback;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Who may ask: those with the token; without one, this machine. */
final class Access {
  private static final String BEARER = "bearer ";

  private final byte @Nullable [] tokenDigest;
  private final RateLimit failures = new RateLimit(RateLimit.Rate.FAILURES, System::nanoTime);

  Access(String token) {
    this.tokenDigest = token.isEmpty() ? null : digest(token);
  }

  boolean hasToken() {
    return tokenDigest != null;
  }

  /** Whether who asks may be told everything. Asked of any request, it answers none. */
  boolean admits(RoutingContext context) {
    return tokenDigest == null ? stranger(context.request()) == null : holdsToken(context);
  }

  /** Whether the token was given: the requests of its holders are counted apart. */
  boolean holdsToken(RoutingContext context) {
    String given = bearer(context.request().getHeader("Authorization"));
    // A digest has one length whatever the token's: equal time says nothing of it.
    return tokenDigest != null
        && given != null
        && MessageDigest.isEqual(tokenDigest, digest(given));
  }

  /** Compares first: wrong tokens, however many, never keep the right one out. */
  void check(RoutingContext context) {
    if (tokenDigest == null) {
      loopbackOnly(context);
    } else if (holdsToken(context)) {
      context.next();
    } else if (bearer(context.request().getHeader("Authorization")) == null) {
      Problem.send(
          context, 401, "unauthorized", "needs the header \"Authorization: Bearer TOKEN\"");
    } else if (failures.take(context.request().remoteAddress().hostAddress())) {
      Problem.send(context, 401, "unauthorized", "this is not the token of admin.token");
    } else {
      Problem.send(context, 429, "too_many_requests", "too many wrong tokens from this address");
    }
  }

  private static void loopbackOnly(RoutingContext context) {
    String refusal = stranger(context.request());
    if (refusal == null) {
      context.next();
    } else {
      Problem.send(context, 403, "forbidden", refusal);
    }
  }

  /** A page elsewhere must not reach us by a name that resolves to loopback, nor by a proxy. */
  private static @Nullable String stranger(HttpServerRequest request) {
    HostAndPort host = request.authority();
    if (!loopback(request.remoteAddress().hostAddress())
        || request.headers().contains("X-Forwarded-For")
        || request.headers().contains("Forwarded")) {
      return "without admin.token only this machine is answered";
    }
    return host == null || !Loopback.is(host.host())
        ? "without admin.token only localhost is a name of this server"
        : null;
  }

  private static boolean loopback(String address) {
    return Loopback.is(address) || address.startsWith("::ffff:127.");
  }

  private static @Nullable String bearer(@Nullable String header) {
    return header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? header.substring(BEARER.length()).strip()
        : null;
  }

  private static byte[] digest(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new IllegalStateException(everyJvmHasIt);
    }
  }

  /** What a form or a page of another origin can send is refused. */
  static void sameOriginJson(RoutingContext context) {
    HttpServerRequest request = context.request();
    String type = request.getHeader("Content-Type");
    String site = request.getHeader("Sec-Fetch-Site");
    String origin = request.getHeader("Origin");
    if (type == null || !type.toLowerCase(Locale.ROOT).matches("application/json\\s*(;.*)?")) {
      Problem.send(context, 415, "unsupported_media_type", "send application/json");
    } else if (site != null && !site.equals("same-origin") && !site.equals("none")) {
      Problem.send(context, 403, "forbidden", "pages of other origins may not change anything");
    } else if (origin != null && !sameOrigin(origin, request.authority())) {
      Problem.send(context, 403, "forbidden", "pages of other origins may not change anything");
    } else {
      context.next();
    }
  }

  private static boolean sameOrigin(String origin, @Nullable HostAndPort host) {
    if (host == null) {
      return false;
    }
    try {
      // A proxy may end TLS in front of us: the scheme is not compared.
      return host.toString().equalsIgnoreCase(String.valueOf(URI.create(origin).getAuthority()));
    } catch (IllegalArgumentException notAnOrigin) {
      return false;
    }
  }
}
