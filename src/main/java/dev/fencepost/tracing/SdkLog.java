package dev.fencepost.tracing;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.slf4j.LoggerFactory;

/** The SDK says by java.util.logging that it cannot export; it shall stand in our log. */
final class SdkLog extends Handler {

  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(Tracing.class);

  /** Held, for java.util.logging forgets loggers that nobody holds, with their handlers. */
  private static final Logger SDK = Logger.getLogger("io.opentelemetry");

  private final SimpleFormatter formatter = new SimpleFormatter();

  private SdkLog() {}

  static void forward() {
    for (Handler each : SDK.getHandlers()) {
      if (each instanceof SdkLog) {
        return;
      }
    }
    SDK.addHandler(new SdkLog());
  }

  @Override
  public void publish(LogRecord line) {
    if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
      LOG.warn("tracing: {}", formatter.formatMessage(line));
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
