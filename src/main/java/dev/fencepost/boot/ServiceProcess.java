package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.flow.Attempt;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The service as a process: runs until it is told to end, or cannot go on without a person. */
public final class ServiceProcess {

  private static final Logger LOG = LoggerFactory.getLogger(ServiceProcess.class);

  private ServiceProcess() {}

  /**
   * Blocks for the life of the process. SIGTERM and SIGINT stop the service in order and end the
   * process with code 0, from within. SIGHUP, or the file changing, re-reads it.
   *
   * @throws FencepostException when a person has to change something; the service is stopped then
   */
  public static void run(Path file, FencepostConfig config, Parts parts) {
    Telemetry telemetry = Telemetry.of(config);
    Vertx vertx = telemetry.vertx();
    Service service =
        new Service(vertx, config, parts, new Service.Wiring(new CodeHandlers(), telemetry));
    ConfigWatch watch = new ConfigWatch(vertx, file, service);
    HangUp.call(watch::reread);
    CompletableFuture<Void> ended = new CompletableFuture<>();
    Thread hook = new Thread(() -> terminate(vertx, service, config), "fencepost-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    Attempt.of(service::start)
        .onSuccess(v -> watch.start())
        .onFailure(ended::completeExceptionally);
    service.refused().onFailure(ended::completeExceptionally);
    try {
      ended.join();
    } catch (CompletionException e) {
      if (unhook(hook)) {
        stop(vertx, service, config);
      }
      throw failure(Objects.requireNonNullElse(e.getCause(), e));
    }
  }

  private static void terminate(Vertx vertx, Service service, FencepostConfig config) {
    LOG.info("told to stop");
    stop(vertx, service, config);
    // Ending by a signal would say 143 although all was done in order.
    Runtime.getRuntime().halt(0);
  }

  private static void stop(Vertx vertx, Service service, FencepostConfig config) {
    Duration all = config.worker().shutdownDeadline().plus(Deadlines.SETTLING.multipliedBy(2));
    try {
      Future<Void> stopped = service.stop().compose(v -> vertx.close()).otherwiseEmpty();
      Blocking.await(stopped, all);
    } catch (FencepostException e) {
      LOG.warn("not everything stopped: {}", e.getMessage());
    }
  }

  /** False when the process is ending already. */
  private static boolean unhook(Thread hook) {
    try {
      return Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      return false;
    }
  }

  private static FencepostException failure(Throwable failure) {
    return failure instanceof FencepostException known
        ? known
        : new FencepostException(FailureKind.INTERNAL, String.valueOf(failure), failure);
  }
}
