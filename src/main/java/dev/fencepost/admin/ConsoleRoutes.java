package dev.fencepost.admin;

import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/**
 * The console's files, from the class path. They hold no data and need no token: the page asks for
 * it and then asks the API.
 */
final class ConsoleRoutes {
  private static final Map<String, String> FILES =
      Map.of(
          "/", "index.html",
          "/triage", "triage.html");

  private static final String[] ASSETS = {
    "console.css",
    "icon.svg",
    "triage.md",
    "js/main.js",
    "js/api.js",
    "js/dom.js",
    "js/format.js",
    "js/flow.js",
    "js/reviews.js",
    "js/dead.js",
    "js/parked.js",
    "js/activity.js",
    "js/audit.js",
    "js/bulk.js",
    "js/triage.js"
  };

  private record Asset(Buffer content, String type, String etag) {}

  void mount(Router router) {
    FILES.forEach((path, file) -> serve(router, path, file));
    for (String asset : ASSETS) {
      serve(router, "/console/" + asset, asset);
    }
  }

  private static void serve(Router router, String path, String file) {
    Asset asset = load(file);
    router.get(path).handler(context -> answer(context, asset));
    router.head(path).handler(context -> answer(context, asset));
  }

  private static void answer(RoutingContext context, Asset asset) {
    context
        .response()
        .putHeader("ETag", asset.etag)
        .putHeader("Cache-Control", "no-cache")
        .putHeader("Content-Type", asset.type);
    if (asset.etag.equals(context.request().getHeader("If-None-Match"))) {
      context.response().setStatusCode(304).end();
    } else {
      context.response().end(asset.content);
    }
  }

  private static Asset load(String file) {
    try (InputStream in = ConsoleRoutes.class.getResourceAsStream("/console/" + file)) {
      if (in == null) {
        throw new IllegalStateException("the console's file " + file + " is not in the jar");
      }
      byte[] bytes = in.readAllBytes();
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      String etag = "\"" + HexFormat.of().formatHex(digest, 0, 12) + "\"";
      return new Asset(Buffer.buffer(bytes), type(file), etag);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new IllegalStateException(everyJvmHasIt);
    }
  }

  private static String type(String file) {
    return switch (file.substring(file.lastIndexOf('.') + 1)) {
      case "html" -> "text/html; charset=utf-8";
      case "css" -> "text/css; charset=utf-8";
      case "js" -> "text/javascript; charset=utf-8";
      case "md" -> "text/markdown; charset=utf-8";
      case "svg" -> "image/svg+xml";
      default -> throw new IllegalArgumentException(file);
    };
  }
}
