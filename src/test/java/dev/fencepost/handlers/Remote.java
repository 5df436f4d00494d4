package dev.fencepost.handlers;

import dev.fencepost.testing.Await;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A real HTTP server that does what a test says to each request, once its body has come. */
final class Remote implements AutoCloseable {
  /** A request as it came. */
  record Seen(HttpServerRequest request, Buffer body) {
    String header(String name) {
      return request.getHeader(name);
    }
  }

  final List<Seen> seen = new CopyOnWriteArrayList<>();
  final AtomicInteger connections = new AtomicInteger();
  private final HttpServer server;
  private volatile Consumer<HttpServerRequest> behaviour = request -> request.response().end();

  private Remote(HttpServer server) {
    this.server = server;
  }

  static Remote start(Vertx vertx) {
    return start(vertx, new HttpServerOptions(), 0);
  }

  static Remote start(Vertx vertx, HttpServerOptions options, int port) {
    Remote remote = new Remote(vertx.createHttpServer(options));
    remote.server.connectionHandler(connection -> remote.connections.incrementAndGet());
    remote.server.requestHandler(
        request ->
            request
                .body()
                .onSuccess(
                    body -> {
                      remote.seen.add(new Seen(request, body));
                      remote.behaviour.accept(request);
                    }));
    Await.result(remote.server.listen(port, "127.0.0.1"));
    return remote;
  }

  Remote does(Consumer<HttpServerRequest> what) {
    behaviour = what;
    return this;
  }

  Remote answers(int status, String body) {
    return does(request -> request.response().setStatusCode(status).end(body));
  }

  int port() {
    return server.actualPort();
  }

  String url(String path) {
    return "http://127.0.0.1:" + port() + path;
  }

  @Override
  public void close() {
    Await.result(server.close());
  }
}
