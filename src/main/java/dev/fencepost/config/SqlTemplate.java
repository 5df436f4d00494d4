package dev.fencepost.config;

import java.util.List;
import java.util.Locale;

/**
 * A statement with named parameters, made into one with numbered ones. Every parameter is cast to
 * its own type, so that a cast of the user's after it converts its text ({@code :payload::jsonb})
 * instead of changing what the driver has to send.
 *
 * @param statement with {@code $1}, {@code $2} …
 * @param parameters what to bind, in order of their numbers
 * @param problems what is wrong with it; empty when it can be prepared
 */
public record SqlTemplate(String statement, List<Parameter> parameters, List<Problem> problems) {

  /** The closed set of parameters. */
  public enum Parameter {
    EVENT_ID("text"),
    TYPE("text"),
    KEY("text"),
    /** The body as UTF-8 text. */
    PAYLOAD("text"),
    PAYLOAD_BYTES("bytea"),
    /** The headers as a JSON object. */
    HEADERS("text::jsonb");

    private final String cast;

    Parameter(String cast) {
      this.cast = cast;
    }

    String placeholder(int number) {
      return "($" + number + "::" + cast + ")";
    }

    String wire() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * @param line from 1
   * @param column from 1
   */
  public record Problem(int line, int column, String what, String allowed) {}

  public static SqlTemplate parse(String sql) {
    return new SqlScanner(sql).template();
  }
}
