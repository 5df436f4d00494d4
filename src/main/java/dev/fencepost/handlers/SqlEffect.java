package dev.fencepost.handlers;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.SqlTemplate;
import dev.fencepost.config.SqlTemplate.Parameter;
import dev.fencepost.decide.FailureClasses;
import dev.fencepost.model.RunEvent;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.ClosedConnectionException;
import io.vertx.sqlclient.DatabaseException;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Runs one statement with the event's values, in the transaction of its receipt. */
final class SqlEffect implements EffectHandler {
  private final SqlTemplate template;

  SqlEffect(SqlTemplate template) {
    this.template = template;
  }

  @Override
  public Future<Receipt> run(ActivityContext context, SqlConnection transaction) {
    Tuple values = Tuple.tuple();
    try {
      for (Parameter parameter : template.parameters()) {
        values.addValue(value(parameter, context));
      }
    } catch (PermanentFailure unfit) {
      return Future.failedFuture(unfit);
    }
    return transaction
        .preparedQuery(template.statement())
        .execute(values)
        .map(rows -> Receipt.succeeded())
        .recover(failure -> Future.failedFuture(translated(failure)));
  }

  private static @Nullable Object value(Parameter parameter, ActivityContext context) {
    return switch (parameter) {
      case EVENT_ID -> context.eventId();
      case TYPE -> context.type();
      case KEY -> context.key();
      case PAYLOAD -> text(context.body());
      case PAYLOAD_BYTES -> Buffer.buffer(context.body());
      case HEADERS -> HeadersAsJson.of(context.headers());
    };
  }

  private static String text(byte[] body) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
      if (text.indexOf('\0') >= 0) {
        throw new PermanentFailure("the body holds NUL, which no text in PostgreSQL can");
      }
      return text;
    } catch (CharacterCodingException e) {
      throw new PermanentFailure("the body is not UTF-8 text; :payload_bytes takes any body", e);
    }
  }

  /** What the server says, without the bare state that the client puts behind it. */
  private static String said(Throwable failure, String state) {
    String text = String.valueOf(failure.getMessage());
    String bare = " (" + state + ")";
    return text.endsWith(bare) ? text.substring(0, text.length() - bare.length()) : text;
  }

  private static RuntimeException translated(Throwable failure) {
    String state = failure instanceof DatabaseException d ? d.getSqlState() : null;
    boolean lost = failure instanceof ClosedConnectionException || failure instanceof IOException;
    if (state == null) {
      return lost
          ? new TransientFailure("the connection to the database was lost", failure)
          : new PermanentFailure(String.valueOf(failure.getMessage()), failure);
    }
    String message = said(failure, state) + " (SQLSTATE " + state + ")";
    return FailureClasses.ofSqlState(state) == RunEvent.HANDLER_TRANSIENT_FAILURE
        ? new TransientFailure(message, failure)
        : new PermanentFailure(message, failure);
  }
}
