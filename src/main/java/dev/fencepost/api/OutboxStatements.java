package dev.fencepost.api;

/**
 * The two ways into the outbox: a plain insert of the columns that are an application's, and the
 * function, which alone may put an event aside for later.
 */
final class OutboxStatements {
  static final String DEFAULT_SCHEMA = "fencepost";

  private static final String INSERT =
      """
      insert into ${schema}.outbox
        (event_id, exchange, routing_key, type, key, payload, content_type, headers, properties)
      values (#1, #2, #3, #4, #5, #6, #7, #8::jsonb, #9::jsonb)""";

  private static final String SCHEDULE =
      """
      select ${schema}.publish(event_id => #1::text, exchange => #2::text, routing_key => #3::text,
        type => #4::text, key => #5::text, payload_bytes => #6::bytea, content_type => #7::text,
        headers => #8::jsonb, properties => #9::jsonb, deliver_at => #10::timestamptz)""";

  private final String insert;
  private final String schedule;

  /** How a client writes parameters. */
  enum Style {
    NUMBERED {
      @Override
      String apply(String sql) {
        return sql.replace('#', '$');
      }
    },
    QUESTION_MARKS {
      @Override
      String apply(String sql) {
        return sql.replaceAll("#\\d+", "?");
      }
    };

    abstract String apply(String sql);
  }

  OutboxStatements(String schema, Style style) {
    String quoted = '"' + schema.replace("\"", "\"\"") + '"';
    insert = style.apply(INSERT).replace("${schema}", quoted);
    schedule = style.apply(SCHEDULE).replace("${schema}", quoted);
  }

  String insert() {
    return insert;
  }

  String schedule() {
    return schedule;
  }
}
