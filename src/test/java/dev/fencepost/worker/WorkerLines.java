package dev.fencepost.worker;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/** What the worker logs during a test. */
final class WorkerLines implements BeforeEachCallback, AfterEachCallback {
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger("dev.fencepost.worker");

  @Override
  public void beforeEach(ExtensionContext context) {
    log.start();
    logger.addAppender(log);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    logger.detachAppender(log);
  }

  List<ILoggingEvent> events() {
    return log.list;
  }
}
