package dev.fencepost.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import dev.fencepost.config.FencepostConfig.LogFormat;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.logging.LogManager;
import org.slf4j.LoggerFactory;

/**
 * Logging of the program: to standard error, so that standard output holds results only. A {@code
 * logback.xml} of the user's own (on the class path, or by {@code -Dlogback.configurationFile=…})
 * is left as it is.
 */
final class Logs {

  private static final String OWN_FILE = "logback.configurationFile";
  private static final List<String> OWN_RESOURCES = List.of("/logback.xml", "/logback-test.xml");

  private Logs() {}

  /** For commands: warnings at most, no stack traces unless asked for. */
  static void quiet(boolean verbose) {
    configure(LogFormat.TEXT, Level.WARN, verbose ? Level.WARN : Level.OFF, verbose);
  }

  /** For the demo, whose failures are meant. */
  static void silent(boolean verbose) {
    configure(LogFormat.TEXT, verbose ? Level.INFO : Level.OFF, Level.OFF, verbose);
  }

  /** For the service: what it does, in the format of the configuration. */
  static void service(LogFormat format, boolean verbose) {
    configure(format, verbose ? Level.DEBUG : Level.INFO, Level.WARN, verbose);
  }

  private static void configure(LogFormat format, Level ours, Level others, boolean traces) {
    if (System.getProperty(OWN_FILE) != null
        || OWN_RESOURCES.stream().anyMatch(own -> Logs.class.getResource(own) != null)
        || !(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
      return;
    }
    // The JDBC driver logs by java.util.logging what it also throws.
    LogManager.getLogManager().reset();
    context.reset();
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(context);
    appender.setTarget("System.err");
    appender.setEncoder(encoder(context, format, traces));
    appender.start();
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(others);
    root.addAppender(appender);
    context.getLogger("dev.fencepost").setLevel(ours);
    // Each pool of a process registers the gauges they share.
    context.getLogger("io.micrometer").setLevel(Level.ERROR);
  }

  static Encoder<ILoggingEvent> encoder(LoggerContext context, LogFormat format, boolean traces) {
    if (format == LogFormat.JSON) {
      JsonEncoder json = traces ? new JsonEncoder() : new Untraced();
      json.setContext(context);
      json.setWithFormattedMessage(true);
      json.setWithMessage(false);
      json.setWithArguments(false);
      json.start();
      return json;
    }
    TextLayout layout = new TextLayout(traces);
    layout.setContext(context);
    layout.start();
    LayoutWrappingEncoder<ILoggingEvent> text = new LayoutWrappingEncoder<>();
    text.setContext(context);
    text.setCharset(StandardCharsets.UTF_8);
    text.setLayout(layout);
    text.start();
    return text;
  }

  /** Names an exception, its causes and what it suppressed, without their frames. */
  private static final class Untraced extends JsonEncoder {
    private static final StackTraceElementProxy[] NONE = {};

    @Override
    protected void appendSTEPArray(
        StringBuilder json, StackTraceElementProxy[] frames, int commonFrames) {
      super.appendSTEPArray(json, NONE, 0);
    }
  }
}
