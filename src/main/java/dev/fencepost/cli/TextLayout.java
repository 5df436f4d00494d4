package dev.fencepost.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One event, one line: ids, keys and errors come from messages that anybody may have published, and
 * must neither pass for lines of ours nor steer a terminal. Only a stack trace takes more lines.
 */
final class TextLayout extends LayoutBase<ILoggingEvent> {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX").withZone(ZoneOffset.UTC);

  private final boolean traces;

  /**
   * @param traces with the frames of an exception; else its classes and messages, on the line
   */
  TextLayout(boolean traces) {
    this.traces = traces;
  }

  @Override
  public String doLayout(ILoggingEvent event) {
    String logger = event.getLoggerName();
    StringBuilder line = new StringBuilder(256);
    TIME.formatTo(event.getInstant(), line);
    line.append(String.format(" %-5s ", event.getLevel()))
        .append(logger, logger.lastIndexOf('.') + 1, logger.length())
        .append(' ')
        .append(TextTable.printable(String.valueOf(event.getFormattedMessage())));
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null && !traces) {
      line.append(" (").append(named(thrown)).append(')');
    }
    line.append(System.lineSeparator());
    if (thrown != null && traces) {
      line.append(ThrowableProxyUtil.asString(new Printable(thrown)));
    }
    return line.toString();
  }

  private static String named(IThrowableProxy thrown) {
    StringBuilder names = new StringBuilder();
    for (IThrowableProxy each = thrown; each != null; each = each.getCause()) {
      names.append(each == thrown ? "" : "; cause ");
      ThrowableProxyUtil.subjoinExceptionMessage(names, new Printable(each));
    }
    return names.toString();
  }

  /** An exception whose messages cannot break the lines of its trace. */
  private record Printable(IThrowableProxy thrown) implements IThrowableProxy {

    private static @Nullable String printable(@Nullable String text) {
      return text == null ? null : TextTable.printable(text);
    }

    @Override
    public @Nullable String getMessage() {
      return printable(thrown.getMessage());
    }

    @Override
    public @Nullable String getOverridingMessage() {
      return printable(thrown.getOverridingMessage());
    }

    @Override
    public @Nullable IThrowableProxy getCause() {
      return thrown.getCause() == null ? null : new Printable(thrown.getCause());
    }

    @Override
    public IThrowableProxy @Nullable [] getSuppressed() {
      IThrowableProxy[] suppressed = thrown.getSuppressed();
      return suppressed == null
          ? null
          : Arrays.stream(suppressed).map(Printable::new).toArray(IThrowableProxy[]::new);
    }

    @Override
    public String getClassName() {
      return thrown.getClassName();
    }

    @Override
    public StackTraceElementProxy[] getStackTraceElementProxyArray() {
      return thrown.getStackTraceElementProxyArray();
    }

    @Override
    public int getCommonFrames() {
      return thrown.getCommonFrames();
    }

    @Override
    public boolean isCyclic() {
      return thrown.isCyclic();
    }
  }
}
