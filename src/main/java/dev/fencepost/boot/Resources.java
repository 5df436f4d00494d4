package dev.fencepost.boot;

import dev.fencepost.admin.AdminParts;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.handlers.Handlers;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.operations.Operations;
import dev.fencepost.pg.PgActivityStore;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.relay.Publisher;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.HandlerSource;
import dev.fencepost.worker.WorkerParts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The adapters of one service, made when first needed, closed together. */
final class Resources {

  private static final Logger LOG = LoggerFactory.getLogger(Resources.class);

  /** For health and operators, beside what relay and worker have. */
  private static final int CONTROL_CONNECTIONS = 2;

  private final Vertx vertx;
  private final FencepostConfig config;
  private final CodeHandlers handlers;
  private final Telemetry telemetry;
  private final String instance = Instance.name();
  private final PgDatabase control;
  private final List<Supplier<Future<Void>>> closing = new ArrayList<>();
  private @Nullable RabbitBroker broker;

  Resources(Vertx vertx, FencepostConfig config, CodeHandlers handlers, Telemetry telemetry) {
    this.vertx = vertx;
    this.config = config;
    this.handlers = handlers;
    this.telemetry = telemetry;
    this.control = database("control", CONTROL_CONNECTIONS);
  }

  Future<Void> reachDatabase() {
    return control.with(
        Deadlines.ANSWER, connection -> connection.query("select 1").execute().mapEmpty());
  }

  /** What about the database does not go with what the worker is to do; never fails. */
  Future<Void> warnings(Consumer<String> warn) {
    return StartWarnings.durability(config, control, warn)
        .onFailure(e -> LOG.debug("not known whether starts are durable: {}", e.toString()))
        .otherwiseEmpty();
  }

  /** Opens a channel and closes it: the address, the login and the virtual host are right. */
  Future<Void> reachBroker() {
    return broker()
        .publisher(config.relay().limits())
        .open("start", () -> System.nanoTime() + Deadlines.ANSWER.toNanos(), new Unheard())
        .compose(Publisher.PublishChannel::close);
  }

  RelayPart relay() {
    PgDatabase database = database("relay", Math.max(2, config.database().poolSize() / 2));
    return new RelayPart(instance, config.relay(), database, broker(), telemetry);
  }

  WorkerPart worker() {
    WatchedDeliveries deliveries = new WatchedDeliveries(broker().deliveries());
    Handlers named = new Handlers(vertx);
    closing.add(named::close);
    HandlerSource source =
        telemetry
            .tracing()
            .handlers(
                (queue, activity) ->
                    handlers.find(queue, activity).orElseGet(() -> named.bind(queue, activity)));
    WorkerParts parts =
        new WorkerParts(
            instance,
            new WorkerParts.Ports(activityStore(), deliveries, telemetry.worker(), source),
            config.worker(),
            List.copyOf(config.queues().values()),
            config.broker().consumerTimeout());
    return new WorkerPart(
        parts,
        deliveries,
        fresh -> {
          named.reloaded(fresh);
          telemetry.tracing().reloaded(fresh);
        });
  }

  /** Effects have a pool of their own: a slow one starves no claim. */
  private ActivityStore activityStore() {
    int size = Math.max(2, config.database().poolSize() / 2);
    return new PgActivityStore(database("worker", size), database("effects", size));
  }

  AdminParts.Metrics adminMetrics() {
    return new AdminParts.Metrics(
        telemetry.scrape(), telemetry.live(), config.operation().metrics().open());
  }

  Operations operations() {
    return Operating.on(vertx, control, config);
  }

  Future<Void> close() {
    List<Future<Void>> all = closing.stream().map(Supplier::get).toList();
    return Future.join(all).transform(closed -> telemetry.close());
  }

  private PgDatabase database(String purpose, int size) {
    FencepostConfig.Database same = config.database();
    PgDatabase opened =
        PgDatabase.open(
            vertx,
            new FencepostConfig.Database(same.uris(), same.schema(), size),
            "fencepost " + purpose);
    closing.add(opened::close);
    return opened;
  }

  private RabbitBroker broker() {
    RabbitBroker made = broker;
    if (made == null) {
      made = new RabbitBroker(vertx, config.broker());
      broker = made;
      closing.add(made::close);
    }
    return made;
  }

  /** Publishes nothing, so nothing is said to it. */
  private static final class Unheard implements Publisher.Listener {
    @Override
    public void settled(List<Publisher.Verdict> verdicts) {}

    @Override
    public void blocked(boolean blocked, String reason) {}

    @Override
    public void closed(FencepostException cause, @Nullable ParkedReason refusal) {}
  }
}
