package dev.fencepost.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Fails a test during which Vert.x warned of a blocked event loop. Registered for every Jupiter
 * test by {@code META-INF/services}.
 */
public final class NoBlockedEventLoop implements AfterEachCallback, AfterAllCallback {

  private static final String CHECKER = "io.vertx.core.impl.BlockedThreadChecker";
  private static final Pattern TIMES =
      Pattern.compile("blocked for (\\d+) ms, time limit is (\\d+) ms");
  private static final Queue<String> WARNINGS = new ConcurrentLinkedQueue<>();

  static {
    AppenderBase<ILoggingEvent> collector =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            String warning = event.getFormattedMessage();
            if (isBlocked(warning)) {
              WARNINGS.add(warning);
            }
          }
        };
    Logger logger = (Logger) LoggerFactory.getLogger(CHECKER);
    collector.setContext(logger.getLoggerContext());
    collector.start();
    logger.addAppender(collector);
  }

  /** Twice the limit counts: a loaded machine holds threads up for a moment that do not block. */
  private static boolean isBlocked(String warning) {
    Matcher times = TIMES.matcher(warning);
    return warning.contains("eventloop")
        && times.find()
        && Long.parseLong(times.group(1)) >= 2 * Long.parseLong(times.group(2));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    verify();
  }

  /** After what ran outside the single tests too. */
  @Override
  public void afterAll(ExtensionContext context) {
    verify();
  }

  private static void verify() {
    List<String> warnings = drain();
    if (!warnings.isEmpty()) {
      throw new AssertionError("an event loop was blocked: " + warnings);
    }
  }

  /** The warnings since the last call. */
  static List<String> drain() {
    List<String> drained = new ArrayList<>();
    for (String next = WARNINGS.poll(); next != null; next = WARNINGS.poll()) {
      drained.add(next);
    }
    return drained;
  }
}
