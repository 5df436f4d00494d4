package dev.fencepost.boot;

import dev.fencepost.config.ConfigDiff;
import dev.fencepost.config.ConfigFaults;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Re-reads the configuration file when its content has changed or SIGHUP asks. It is small, so it
 * is read whole at each look: what editors, rsync and the symbolic links of a ConfigMap do to the
 * times of files tells less. Only its digest is kept; it may hold passwords. Confined to a context
 * of its own.
 */
final class ConfigWatch {

  private static final Logger LOG = LoggerFactory.getLogger(ConfigWatch.class);

  private static final Duration LOOK_EVERY = Duration.ofSeconds(2);

  /** A file that has changed is looked at again after this: it may not be whole yet. */
  private static final Duration SETTLES = Duration.ofMillis(300);

  private static final String UNREADABLE = "unreadable";

  private final Vertx vertx;
  private final Context context;
  private final Path file;
  private final Service service;
  private @Nullable String seen;
  private @Nullable String changed;
  private long timer = -1;
  private boolean started;
  private boolean looking;
  private boolean asked;

  ConfigWatch(Vertx vertx, Path file, Service service) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.file = file;
    this.service = service;
  }

  /** To be called when the service runs: what came earlier is seen at the first look. */
  void start() {
    context.runOnContext(
        v -> {
          started = true;
          look();
        });
  }

  /** Reads the file now, changed or not. From any thread. */
  void reread() {
    context.runOnContext(
        v -> {
          asked = true;
          if (started && !looking) {
            look();
          }
        });
  }

  private void look() {
    vertx.cancelTimer(timer);
    looking = true;
    boolean anyway = asked;
    asked = false;
    vertx
        .executeBlocking(this::digest, false)
        .compose(digest -> found(digest, anyway))
        .onFailure(failure -> LOG.warn("reload: {}", failure.toString()))
        .onComplete(
            done -> {
              looking = false;
              if (asked) {
                look();
              } else {
                Duration pause = changed == null ? LOOK_EVERY : SETTLES;
                timer = vertx.setTimer(pause.toMillis(), id -> look());
              }
            });
  }

  private Future<Void> found(String digest, boolean anyway) {
    if (!anyway && digest.equals(seen)) {
      changed = null;
      return Future.succeededFuture();
    }
    if (!anyway && !digest.equals(changed)) {
      changed = digest;
      return Future.succeededFuture();
    }
    seen = digest;
    changed = null;
    return vertx
        .executeBlocking(this::read, false)
        .compose(service::reload)
        .<Void>map(
            diff -> {
              tell(diff, anyway);
              return null;
            })
        .recover(this::refused);
  }

  private static void tell(ConfigDiff diff, boolean anyway) {
    if (!diff.applied().isEmpty()) {
      LOG.info("reload applied: {}", String.join(", ", diff.applied()));
    }
    if (!diff.needRestart().isEmpty()) {
      LOG.warn("reload needs a restart for: {}", String.join(", ", diff.needRestart()));
    }
    if (anyway && diff.applied().isEmpty() && diff.needRestart().isEmpty()) {
      LOG.info("reload: nothing has changed");
    }
  }

  private Future<Void> refused(Throwable failure) {
    if (!(failure instanceof ConfigFaults refused)) {
      return Future.failedFuture(failure);
    }
    LOG.error("reload refused, nothing is changed; faults: {}", refused.faults().size());
    refused.faults().forEach(fault -> LOG.error("reload refused: {}", fault));
    return Future.succeededFuture();
  }

  private FencepostConfig read() {
    FencepostConfig fresh = ConfigLoader.load(file, System.getenv());
    service.check(fresh);
    return fresh;
  }

  private String digest() throws NoSuchAlgorithmException {
    try {
      byte[] sha = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
      return HexFormat.of().formatHex(sha);
    } catch (IOException e) {
      return UNREADABLE;
    }
  }
}
