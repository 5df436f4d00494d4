package dev.fencepost.boot;

import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a service, known from the moment they begin to start: one that is still starting has
 * work in hand like one that has started, and is waited for like that. From any thread.
 */
final class Deployments {

  private static final Logger LOG = LoggerFactory.getLogger(Deployments.class);

  private final Vertx vertx;
  private final List<Deployed> deployed = new CopyOnWriteArrayList<>();
  private volatile boolean stopping;

  /**
   * @param giveUpStart ends a start that is not complete; harmless after that
   * @param deadline for its end
   */
  record Part(String name, Deployable verticle, Runnable giveUpStart, Duration deadline) {}

  private record Deployed(Part part, Future<String> id) {}

  Deployments(Vertx vertx) {
    this.vertx = vertx;
  }

  Future<Void> start(Part part) {
    Deployed begun = new Deployed(part, vertx.deployVerticle(part.verticle()));
    deployed.add(begun);
    if (stopping) {
      part.giveUpStart().run(); // who stops may have looked before
    }
    return begun.id().mapEmpty();
  }

  /** Stops those that there are of these, each within its deadline. Never fails. */
  Future<Void> stop(String... names) {
    stopping = true;
    List<Deployed> all =
        deployed.stream().filter(each -> List.of(names).contains(each.part().name())).toList();
    deployed.removeAll(all);
    return Future.join(all.stream().map(this::stop).toList()).mapEmpty();
  }

  private Future<Void> stop(Deployed each) {
    Part part = each.part();
    part.giveUpStart().run();
    Future<Void> ended =
        each.id()
            .transform(
                id -> id.succeeded() ? vertx.undeploy(id.result()) : Future.succeededFuture());
    return Deadlines.within(vertx, part.deadline(), ended)
        .onFailure(
            failure -> LOG.warn("{} did not stop well: {}", part.name(), failure.getMessage()))
        .otherwiseEmpty();
  }
}
