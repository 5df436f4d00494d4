package dev.fencepost.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import dev.fencepost.config.FencepostConfig.LogFormat;
import java.util.List;
import java.util.logging.LogManager;
import org.slf4j.LoggerFactory;

/**
 * Logging of the program: to standard error, so that standard output holds results only. A {@code
 * logback.xml} of the user's own (on the class path, or by {@code -Dlogback.configurationFile=…})
 * is left as it is.
 */
final class Logs {

  private static final String TEXT =
      "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX, UTC} %-5level %logger{0} %msg%n";
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

  private static Encoder<ILoggingEvent> encoder(
      LoggerContext context, LogFormat format, boolean traces) {
    if (format == LogFormat.JSON) {
      JsonEncoder json = new JsonEncoder();
      json.setContext(context);
      json.setWithFormattedMessage(true);
      json.setWithMessage(false);
      json.setWithArguments(false);
      json.start();
      return json;
    }
    PatternLayoutEncoder text = new PatternLayoutEncoder();
    text.setContext(context);
    text.setPattern(traces ? TEXT : TEXT.replace("%n", "%nopex%n"));
    text.start();
    return text;
  }
}
