package dev.fencepost.boot;

import dev.fencepost.admin.AdminParts;
import dev.fencepost.admin.AdminVerticle;
import dev.fencepost.config.ConfigDiff;
import dev.fencepost.config.ConfigFaults;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.flow.Attempt;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.Readiness;
import dev.fencepost.pg.Migrations;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running Fencepost: starts what the configuration enables, in order, and stops it in order.
 *
 * <p>Start: admin (so that health can say what is missing) → database and schema → broker → relay
 * and worker. What is out of reach is waited for; what only a person can change ends the start.
 * Stop: the worker drains and the relay hands its lanes over → admin → connections.
 */
public final class Service {

  private static final Logger LOG = LoggerFactory.getLogger(Service.class);
  private static final String DATABASE = "database";
  private static final String BROKER = "broker";
  private static final String ADMIN = "admin";
  private static final String RELAY = "relay";
  private static final String WORKER = "worker";

  private final Vertx vertx;
  private final CodeHandlers handlers;
  private final Parts parts;
  private final Standing standing = new Standing();
  private final Gate gate;
  private final Resources resources;
  private final Promise<Void> refused = Promise.promise();
  private final Deployments deployments;
  private @Nullable AdminVerticle admin;
  private @Nullable RelayPart relay;
  private @Nullable WorkerPart worker;
  private volatile FencepostConfig config;
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final Promise<Void> stopped = Promise.promise();
  private volatile Future<Void> starting = Future.succeededFuture();

  /** What is not of the configuration. */
  record Wiring(CodeHandlers handlers, Telemetry telemetry) {}

  /**
   * Connects to nothing yet.
   *
   * @throws FencepostException of kind CONFIGURATION when a handler does not fit
   */
  Service(Vertx vertx, FencepostConfig config, Parts parts, Wiring wiring) {
    this.vertx = vertx;
    this.config = config;
    this.handlers = wiring.handlers();
    this.parts = parts;
    this.gate = new Gate(vertx, standing);
    this.deployments = new Deployments(vertx);
    handlers.check(config);
    check(config);
    this.resources = new Resources(vertx, config, wiring.handlers(), wiring.telemetry());
  }

  /**
   * Starts everything, waiting for servers as long as it takes.
   *
   * @return fails where a person has to change something: configuration, password, rights, schema;
   *     and when it was stopped meanwhile
   */
  public Future<Void> start() {
    Promise<Void> done = Promise.promise();
    starting = done.future();
    Attempt.of(this::startAll).onComplete(done);
    return starting;
  }

  private Future<Void> startAll() {
    standing.expected(new Readiness.Reason("service", "starting", "is starting"));
    return going()
        .compose(v -> startAdmin())
        .compose(v -> gate.pass(DATABASE, this::checkDatabase))
        .compose(v -> gate.pass(BROKER, resources::reachBroker))
        .compose(v -> going())
        .compose(v -> startParts())
        .compose(v -> going())
        .onSuccess(
            v -> {
              standing.met("service");
              LOG.info(
                  "fencepost {} runs relay={} worker={}",
                  Version.current(),
                  parts.relay(),
                  parts.worker());
            });
  }

  private Future<Void> going() {
    return stopping.get() ? Future.failedFuture(Gate.stopped()) : Future.succeededFuture();
  }

  /** Migrations have a way of their own to the database; that of all the others is tried too. */
  private Future<Void> checkDatabase() {
    return new Migrations(vertx, config).check().compose(v -> resources.reachDatabase());
  }

  /**
   * Blocks on the class path.
   *
   * @throws ConfigFaults when a class is needed that cannot be made, or an address cannot be used
   */
  void check(FencepostConfig fresh) {
    List<ConfigFaults.Fault> faults = new ArrayList<>(ServerUris.faults(fresh));
    if (parts.worker()) {
      faults.addAll(handlers.classFaults(fresh));
    }
    if (!faults.isEmpty()) {
      throw new ConfigFaults(faults);
    }
  }

  /**
   * Applies what may change while it runs. Called when started, one at a time.
   *
   * @param fresh without a fault
   * @return completes when what is applied holds
   */
  Future<ConfigDiff> reload(FencepostConfig fresh) {
    ConfigDiff diff = ConfigDiff.between(config, fresh);
    config = diff.config();
    List<Future<Void>> applied = new ArrayList<>();
    if (relay != null) {
      applied.add(relay.reload(diff.config().relay()));
    }
    if (worker != null) {
      applied.add(worker.reload(diff.config()));
    }
    return Future.join(applied).map(diff);
  }

  /** Fails when the broker refuses what was started; never completes otherwise. */
  public Future<Void> refused() {
    return refused.future();
  }

  /** Where HTTP is served, once started; 0 without it. */
  public int adminPort() {
    return admin == null ? 0 : admin.port();
  }

  /** Why this process is not making progress; empty when it is. */
  public Readiness readiness() {
    return this::reasons;
  }

  /** Stops in order, each step with a deadline; once, however often it is asked. Never fails. */
  public Future<Void> stop() {
    if (stopping.compareAndSet(false, true)) {
      Attempt.of(this::stopAll).onComplete(stopped);
    }
    return stopped.future();
  }

  private Future<Void> stopAll() {
    standing.expected(new Readiness.Reason("service", "stopping", "is stopping"));
    gate.close();
    return deployments
        .stop(RELAY, WORKER)
        // A start that has just got past its last look goes to its end before anything is closed.
        .transform(any -> Deadlines.within(vertx, Deadlines.CLOSING, starting))
        .transform(any -> deployments.stop(RELAY, WORKER))
        .transform(any -> deployments.stop(ADMIN))
        .transform(any -> Deadlines.within(vertx, Deadlines.CLOSING, resources.close()))
        .onFailure(failure -> LOG.warn("connections did not close well: {}", failure.toString()))
        .otherwiseEmpty()
        .onSuccess(v -> LOG.info("fencepost stopped"));
  }

  private Future<Void> startAdmin() {
    if (!parts.admin()) {
      return Future.succeededFuture();
    }
    AdminVerticle made =
        new AdminVerticle(
            new AdminParts(
                config.operation().admin(),
                resources.operations(),
                readiness(),
                resources.adminMetrics()));
    admin = made;
    return deployments
        .start(new Deployments.Part(ADMIN, made, () -> {}, Deadlines.SETTLING))
        .recover(failure -> Future.failedFuture(cannotListen(failure)));
  }

  private FencepostException cannotListen(Throwable failure) {
    FencepostConfig.Admin where = config.operation().admin();
    String address = "admin: cannot listen on " + where.host() + ":" + where.port() + ": ";
    // A port that is taken or may not be had, an address of another machine, a name of none.
    boolean wrong = failure instanceof SocketException || failure instanceof UnknownHostException;
    return new FencepostException(
        wrong ? FailureKind.CONFIGURATION : FailureKind.INTERNAL,
        address + failure.getMessage(),
        failure);
  }

  private Future<Void> startParts() {
    List<Future<?>> starts = new ArrayList<>();
    if (parts.relay()) {
      RelayPart part = resources.relay();
      relay = part;
      starts.add(
          deployments.start(
              new Deployments.Part(RELAY, part.verticle(), () -> {}, Deadlines.SETTLING)));
    }
    if (parts.worker()) {
      WorkerPart part = resources.worker();
      worker = part;
      part.refused().onFailure(refused::tryFail);
      starts.add(resources.warnings(LOG::warn));
      Duration drain = config.worker().shutdownDeadline().plus(Deadlines.SETTLING);
      starts.add(
          deployments.start(
              new Deployments.Part(WORKER, part.verticle(), part::giveUpStart, drain)));
    }
    return Future.all(starts).mapEmpty();
  }

  private Future<List<Readiness.Reason>> reasons() {
    List<Readiness.Reason> reasons = new ArrayList<>(standing.reasons());
    if (relay != null) {
      relay.standstill().ifPresent(reasons::add);
    }
    if (worker != null) {
      worker.standstill().ifPresent(reasons::add);
    }
    if (reasons.stream().anyMatch(reason -> reason.part().equals(DATABASE))) {
      return Future.succeededFuture(List.copyOf(reasons));
    }
    return resources
        .reachDatabase()
        .onFailure(failure -> reasons.add(Standing.of(DATABASE, failure)))
        .transform(any -> Future.succeededFuture(List.copyOf(reasons)));
  }
}
