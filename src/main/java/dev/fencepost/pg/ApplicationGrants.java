package dev.fencepost.pg;

import java.util.List;

/**
 * What an application's role needs to write to the outbox, and nothing else. It must not be able to
 * write {@code tx}, {@code seq} or {@code slot}: the cursor rests on their defaults, which work
 * without a right to the columns.
 */
public final class ApplicationGrants {
  private static final String TEXT =
      """
      grant usage on schema ${schema} to ${role};
      grant insert (event_id, exchange, routing_key, type, key, payload, content_type, headers, properties)
        on ${schema}.outbox to ${role};
      grant insert on ${schema}.outbox_events to ${role};
      grant execute on function ${schema}.publish(
        text, text, text, jsonb, text, jsonb, text, timestamptz, text, jsonb) to ${role};
      grant execute on function ${schema}.publish(
        bytea, text, text, text, text, jsonb, text, timestamptz, text, jsonb) to ${role};
      """;

  private ApplicationGrants() {}

  /**
   * The statements, one an element, without a semicolon.
   *
   * @param schema as it stands in statements: quoted
   * @param role as the database knows it; quoted here
   */
  public static List<String> statements(String schema, String role) {
    return TEXT.replace("${schema}", schema)
        .replace("${role}", PgDatabase.quote(role))
        .strip()
        .transform(text -> List.of(text.split(";\\s*")));
  }
}
