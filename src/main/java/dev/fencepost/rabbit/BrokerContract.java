package dev.fencepost.rabbit;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what the broker will do, by AMQP (product and version) and where it is configured by the
 * management API (type, limits), and refuses what is unsafe. What cannot be read is assumed, and
 * said once.
 */
final class BrokerContract implements ContractCheck {

  private static final Logger LOG = LoggerFactory.getLogger(BrokerContract.class);

  private final FencepostConfig.Broker config;
  private final @Nullable ManagementApi management;

  /** What was said before, so that a consumer that comes back does not repeat it. */
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  BrokerContract(Vertx vertx, FencepostConfig.Broker config) {
    this.config = config;
    URI uri = config.managementUri();
    this.management = uri == null ? null : new ManagementApi(vertx, uri);
  }

  @Override
  public Future<Void> check(BrokerConnection connection, QueueConfig queue) {
    return facts(connection, queue).compose(facts -> judge(connection, queue, facts.orElse(null)));
  }

  Future<Void> close() {
    return management == null ? Future.succeededFuture() : management.close();
  }

  private Future<Optional<QueueContract.Facts>> facts(
      BrokerConnection connection, QueueConfig queue) {
    if (management == null || !connection.features().isRabbit()) {
      return Future.succeededFuture(Optional.empty());
    }
    return management
        .queue(connection.uri().login(), queue.queue())
        .map(Optional::of)
        .otherwise(
            e -> {
              say(
                  queue,
                  "the management API does not tell its limits, they are assumed: "
                      + e.getMessage());
              return Optional.empty();
            });
  }

  private Future<Void> judge(
      BrokerConnection connection, QueueConfig queue, QueueContract.@Nullable Facts facts) {
    QueueContract.Findings findings =
        QueueContract.look(queue, connection.features(), facts, config.consumerTimeout());
    findings.warnings().forEach(warning -> say(queue, warning));
    if (findings.faults().isEmpty()) {
      return Future.succeededFuture();
    }
    return Future.failedFuture(
        new FencepostException(
            FailureKind.CONFIGURATION,
            "queue " + queue.name() + ": " + String.join("; ", findings.faults())));
  }

  private void say(QueueConfig queue, String what) {
    String line = "queue " + queue.name() + ": " + what;
    if (said.add(line)) {
      LOG.warn("{}", line);
    }
  }
}
