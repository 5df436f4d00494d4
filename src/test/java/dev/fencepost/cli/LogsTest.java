package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import dev.fencepost.config.FencepostConfig.LogFormat;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What the encoder of the program writes. */
class LogsTest {
  private static final String FORGED =
      "2026-12-01T10:00:00.000Z WARN  worker dead-letter event=order-7 reason=none";

  /** What ends a line for one reader or another. */
  private static final String LINE_ENDS = "\\R|[\\x0b\\x0c\\x1c-\\x1e]";

  private final LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();

  @ParameterizedTest
  @ValueSource(
      strings = {"\n", "\r", "\r\n", "\u000b", "\f", "\u001c", "\u0085", "\u2028", "\u2029"})
  void aMessageIdForgesNoLine(String lineEnd) {
    assertThat(text(false, null, "x" + lineEnd + FORGED).split(LINE_ENDS))
        .singleElement()
        .asString()
        .startsWith("2026-07-01T12:00:00.250Z WARN  worker dead-letter event=x·")
        .endsWith(FORGED);
  }

  @Test
  void aMessageIdSteersNoTerminal() {
    assertThat(text(false, null, "\u001b[2J\u009b2J\u202e"))
        .isEqualTo(
            "2026-07-01T12:00:00.250Z WARN  worker dead-letter event=·[2J·2J·"
                + System.lineSeparator());
  }

  @Test
  void anOrdinaryLineIsAsItWas() {
    assertThat(text(true, null, "Bestellung-Ä-7 a\\b"))
        .isEqualTo(
            "2026-07-01T12:00:00.250Z WARN  worker dead-letter event=Bestellung-Ä-7 a\\b"
                + System.lineSeparator());
  }

  @Test
  void theMessageOfAnExceptionForgesNoLineOfItsTrace() {
    String logged = text(true, failure("boom\n" + FORGED), "x");

    List<String> lines = List.of(logged.split(LINE_ENDS));
    assertThat(lines.get(0)).endsWith("event=x");
    assertThat(lines.subList(1, lines.size()))
        .anyMatch(line -> line.startsWith("java.lang.IllegalStateException: boom·2026"))
        .anyMatch(line -> line.startsWith("Caused by: java.io.IOException: boom·2026"))
        .anyMatch(line -> line.strip().startsWith("Suppressed: java.lang.Error: boom·2026"))
        .anyMatch(line -> line.startsWith("\tat " + LogsTest.class.getName()))
        .allMatch(
            line -> line.matches("(\t|java.lang.IllegalStateException: |Caused by: ).*"),
            "is a line of the trace");
  }

  @Test
  void anOddExceptionForgesNoLineEither() {
    Throwable odd =
        new IllegalStateException("boom") {
          @Override
          public String toString() {
            return "odd\n" + FORGED;
          }
        };
    assertThat(text(true, odd, "x").split(LINE_ENDS)).noneMatch(line -> line.equals(FORGED));
    assertThat(text(false, odd, "x").split(LINE_ENDS)).hasSize(1);
  }

  @Test
  void asTextAFailureIsNamedOnItsLineAndTracedOnlyIfAskedFor() {
    assertThat(text(false, failure("boom\n" + FORGED), "x"))
        .isEqualTo(
            "2026-07-01T12:00:00.250Z WARN  worker dead-letter event=x"
                + " (java.lang.IllegalStateException: boom·"
                + FORGED
                + "; cause java.io.IOException: boom·"
                + FORGED
                + ")"
                + System.lineSeparator());
    assertThat(text(true, failure("boom"), "x")).contains("\tat ", "LogsTest.java:");
  }

  @Test
  void asJsonAFailureIsNamedAndTracedOnlyIfAskedFor() {
    JsonObject bare = json(false, failure("boom"), "x").getJsonObject("throwable");
    JsonObject traced = json(true, failure("boom"), "x").getJsonObject("throwable");

    for (JsonObject each : List.of(bare, traced)) {
      assertThat(each.getString("className")).isEqualTo("java.lang.IllegalStateException");
      assertThat(each.getString("message")).isEqualTo("boom");
      assertThat(each.getJsonObject("cause").getString("className"))
          .isEqualTo("java.io.IOException");
      assertThat(each.getJsonArray("suppressed")).hasSize(1);
    }
    assertThat(bare.encode()).doesNotContain("methodName", "LogsTest");
    assertThat(traced.encode()).contains("methodName", "LogsTest.java");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void jsonKeepsEveryCharacterOnOneLine(boolean traces) {
    String hostile = "x\"\\\r\n\u0000\u001b\u0085\u2028\t" + FORGED;

    JsonObject line = json(traces, failure(hostile), hostile);

    assertThat(line.getString("formattedMessage")).isEqualTo("dead-letter event=" + hostile);
    assertThat(line.getJsonObject("throwable").getString("message")).isEqualTo(hostile);
  }

  @ParameterizedTest
  @EnumSource(LogFormat.class)
  void isWrittenAsUtf8(LogFormat format) {
    assertThat(new String(encoded(format, false, null, "Ä…·"), StandardCharsets.UTF_8))
        .contains("event=Ä…·");
  }

  private String text(boolean traces, @Nullable Throwable failure, String eventId) {
    return new String(encoded(LogFormat.TEXT, traces, failure, eventId), StandardCharsets.UTF_8);
  }

  private JsonObject json(boolean traces, @Nullable Throwable failure, String eventId) {
    String line =
        new String(encoded(LogFormat.JSON, traces, failure, eventId), StandardCharsets.UTF_8);
    assertThat(line).as("one line").endsWith("\n");
    assertThat(line.strip()).as("one line").doesNotContain("\n", "\r");
    return new JsonObject(line);
  }

  private byte[] encoded(
      LogFormat format, boolean traces, @Nullable Throwable failure, String eventId) {
    LoggingEvent event =
        new LoggingEvent(
            LogsTest.class.getName(),
            context.getLogger("dev.fencepost.worker"),
            Level.WARN,
            "dead-letter event={}",
            failure,
            new Object[] {eventId});
    event.setInstant(Instant.parse("2026-07-01T12:00:00.250Z"));
    return Logs.encoder(context, format, traces).encode(event);
  }

  private static Throwable failure(String message) {
    Throwable failure = new IllegalStateException(message, new IOException(message));
    failure.addSuppressed(new Error(message));
    return failure;
  }
}
