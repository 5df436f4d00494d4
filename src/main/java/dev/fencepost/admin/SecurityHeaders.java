package dev.fencepost.admin;

import io.vertx.core.MultiMap;
import io.vertx.ext.web.RoutingContext;

/** Headers of every answer: nothing is framed, sniffed, cached or loaded from elsewhere. */
final class SecurityHeaders {
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private SecurityHeaders() {}

  static void add(RoutingContext context) {
    MultiMap headers = context.response().headers();
    headers.set("Content-Security-Policy", POLICY);
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("X-Frame-Options", "DENY");
    headers.set("Referrer-Policy", "no-referrer");
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    headers.set("Permissions-Policy", "camera=(), geolocation=(), microphone=()");
    headers.set("Cache-Control", "no-store");
    context.next();
  }
}
