package dev.fencepost.handlers;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.ActivityConfig.Handler;
import dev.fencepost.config.ConfigFaults.Fault;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.config.SqlTemplate;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the handler that each activity names. One for the process. */
public final class Handlers {
  private static final Logger LOG = LoggerFactory.getLogger(Handlers.class);
  private static final int KEEP_ALIVE_SECONDS = 10;
  // The worker's gates bound what runs at once; the pool must never queue behind them.
  private static final int CONNECTIONS = 10_000;

  private final Vertx vertx;
  private final HttpClient reusing;
  private final HttpClient fresh;
  private final Map<String, RemoteBreaker> breakers = new ConcurrentHashMap<>();
  private final Map<String, HttpActivity> http = new ConcurrentHashMap<>();
  private final List<AutoCloseable> closeables = new ArrayList<>();

  public Handlers(Vertx vertx) {
    this.vertx = vertx;
    this.reusing = client(vertx, true);
    this.fresh = client(vertx, false);
  }

  /**
   * Every {@code class} handler of the configuration that cannot be made; makes none.
   *
   * @param elsewhere activities whose handler is made by somebody else
   */
  public static List<Fault> faults(
      FencepostConfig config, BiPredicate<QueueConfig, ActivityConfig> elsewhere) {
    return each(config, elsewhere, (java, activity) -> java.fault(activity.kind()));
  }

  /** Those of the {@link #faults} that say no more than that a class is not on the class path. */
  public static List<Fault> missing(FencepostConfig config) {
    return each(config, (queue, activity) -> false, (java, activity) -> java.missing());
  }

  private static List<Fault> each(
      FencepostConfig config,
      BiPredicate<QueueConfig, ActivityConfig> elsewhere,
      BiFunction<JavaHandlers, ActivityConfig, Optional<Fault>> look) {
    List<Fault> faults = new ArrayList<>();
    for (QueueConfig queue : config.queues().values()) {
      for (ActivityConfig activity : queue.activities().values()) {
        if (activity.handler() instanceof Handler.JavaClass java
            && !elsewhere.test(queue, activity)) {
          look.apply(new JavaHandlers(path(queue, activity) + ".class", java.name()), activity)
              .ifPresent(faults::add);
        }
      }
    }
    return faults;
  }

  /**
   * Makes the handler of one activity type. Called once for each, before the first start.
   *
   * @throws dev.fencepost.config.ConfigFaults when the user's class cannot be made
   */
  public BoundHandler bind(QueueConfig queue, ActivityConfig activity) {
    Handler handler = activity.handler();
    if (handler instanceof Handler.Http call) {
      return http(path(queue, activity), call, activity);
    }
    if (handler instanceof Handler.Sql sql) {
      return new BoundHandler.Effect(new SqlEffect(SqlTemplate.parse(sql.statement())));
    }
    Handler.JavaClass java = (Handler.JavaClass) handler;
    BoundHandler made =
        new JavaHandlers(path(queue, activity) + ".class", java.name())
            .make(activity.kind(), vertx);
    keep(made);
    return made;
  }

  /** After a reload: calls from now on keep the new hard limits. */
  public void reloaded(FencepostConfig config) {
    for (QueueConfig queue : config.queues().values()) {
      for (ActivityConfig activity : queue.activities().values()) {
        HttpActivity one = http.get(path(queue, activity));
        if (one != null) {
          one.hardLimit(activity.timing().hard());
        }
      }
    }
  }

  /** Closes connections, and the user's handlers that are {@link AutoCloseable}, off the loop. */
  public Future<Void> close() {
    Future<Void> closed =
        vertx.executeBlocking(
            () -> {
              for (AutoCloseable one : closeables) {
                one.close();
              }
              return null;
            },
            false);
    return Future.join(reusing.close(), fresh.close(), closed).mapEmpty();
  }

  private BoundHandler http(String path, Handler.Http call, ActivityConfig activity) {
    HttpTarget target = new HttpTarget(call.url());
    RemoteBreaker breaker =
        breakers.computeIfAbsent(target.remote(), remote -> new RemoteBreaker(vertx, remote));
    boolean repeatable =
        activity.kind() == ActivityKind.PURE || activity.kind() == ActivityKind.IDEMPOTENT;
    // A kept connection that the remote is just closing looks like one lost after the send: where
    // that may not be repeated, each call has a connection of its own.
    HttpActivity one =
        new HttpActivity(
            vertx, repeatable ? reusing : fresh, breaker, call, activity.timing().hard());
    http.put(path, one);
    return new BoundHandler.Async(one, breaker);
  }

  private void keep(BoundHandler made) {
    Object handler =
        made instanceof BoundHandler.Async async
            ? async.handler()
            : made instanceof BoundHandler.Blocking blocking
                ? blocking.handler()
                : ((BoundHandler.Effect) made).handler();
    if (handler instanceof AutoCloseable closeable) {
      closeables.add(closeable);
    }
  }

  private static HttpClient client(Vertx vertx, boolean keepAlive) {
    HttpClientOptions options =
        new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_1_1)
            .setKeepAlive(keepAlive)
            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
            .setTcpNoDelay(true);
    return vertx
        .httpClientBuilder()
        .with(options)
        .with(new PoolOptions().setHttp1MaxSize(CONNECTIONS))
        // What happens to a call is told by its own failure; the connection's adds nothing.
        .withConnectHandler(
            connection -> connection.exceptionHandler(lost -> LOG.debug("connection lost", lost)))
        .build();
  }

  private static String path(QueueConfig queue, ActivityConfig activity) {
    return "queues." + queue.name() + ".activities." + activity.type() + ".handler";
  }
}
