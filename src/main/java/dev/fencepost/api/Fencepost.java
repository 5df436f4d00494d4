package dev.fencepost.api;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.ServiceLoader;

/**
 * Fencepost inside an existing Vert.x application: the relay and the worker of a configuration file
 * on the application's own Vert.x, with handlers that are objects of the application.
 *
 * <pre>{@code
 * Fencepost fencepost =
 *     Fencepost.create(vertx, Path.of("fencepost.yaml"))
 *         .handler("notifications", "order.placed", new Notify(mailer));
 * fencepost.start().onFailure(failure -> …);
 * }</pre>
 *
 * <p>Not safe for use by several threads before {@link #start()} has been called.
 */
public interface Fencepost {

  /**
   * Reads the configuration file (blocking) and starts nothing yet.
   *
   * @throws dev.fencepost.model.FencepostException of kind CONFIGURATION with every fault of it
   */
  static Fencepost create(Vertx vertx, Path configuration) {
    return Factory.find().create(vertx, configuration);
  }

  /**
   * As {@link #create(Vertx, Path)}, from the text of a file.
   *
   * @param yaml as a configuration file holds it; {@code ${NAME}} reads the environment
   */
  static Fencepost create(Vertx vertx, String yaml) {
    return Factory.find().create(vertx, yaml);
  }

  /**
   * Runs {@code handler} for one activity type, in place of the handler the file names for it.
   *
   * @param consumer the queue's name in the file
   * @param type an activity of that queue, of any kind but effect
   * @return this
   */
  Fencepost handler(String consumer, String type, ActivityHandler handler);

  /** As {@link #handler}, on a thread of the worker's pool. */
  Fencepost blockingHandler(String consumer, String type, BlockingActivityHandler handler);

  /** As {@link #handler}, for an activity of kind effect. */
  Fencepost effectHandler(String consumer, String type, EffectHandler handler);

  /**
   * Connects and starts what the file enables. Servers that are out of reach are waited for, as
   * long as it takes; {@link #stop()} ends the waiting.
   *
   * @return fails with a {@link dev.fencepost.model.FencepostException} where a person has to
   *     change something: a wrong password, missing rights, a missing schema
   */
  Future<Void> start();

  /**
   * Reads the configuration file again (blocking) and applies what may change while it runs: what
   * {@code conf/fencepost.yaml} marks {@code (live)}. Nothing watches the file of an embedded
   * Fencepost: the application says when. Calls are applied one after another.
   *
   * @return what was applied; fails, and changes nothing, with a {@link
   *     dev.fencepost.model.FencepostException} of kind CONFIGURATION with every fault of the file,
   *     or when it does not run
   */
  Future<Reloaded> reload(Path configuration);

  /** As {@link #reload(Path)}, from the text of a file. */
  Future<Reloaded> reload(String yaml);

  /**
   * Stops in order: takes in nothing more, waits for what is running up to {@code
   * worker.shutdown-deadline}, settles, gives its lanes back, closes its connections. The Vert.x
   * instance stays open. Asked again, it ends with the first. Never fails.
   */
  Future<Void> stop();

  /** Found by {@link ServiceLoader}; not for applications to implement. */
  interface Factory {

    Fencepost create(Vertx vertx, Path configuration);

    Fencepost create(Vertx vertx, String yaml);

    private static Factory find() {
      return ServiceLoader.load(Factory.class, Fencepost.class.getClassLoader())
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("fencepost is not whole on the class path"));
    }
  }
}
