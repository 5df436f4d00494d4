package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ParkedReason;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The one place where reply codes and the client's exceptions become kinds. */
final class RabbitErrors {

  private static final int CONTENT_TOO_LARGE = 311;
  private static final int FRAME_ERROR = 501;
  private static final int SYNTAX_ERROR = 502;

  private RabbitErrors() {}

  /** A reply of the broker that ended a channel or connection; code 0 when there was none. */
  record Reply(int code, String text) {}

  /** What the broker said when it closed, or code 0 for a lost connection. */
  static Reply reply(ShutdownSignalException signal) {
    Method reason = signal.getReason();
    if (reason instanceof AMQP.Channel.Close close) {
      return new Reply(close.getReplyCode(), close.getReplyText());
    }
    if (reason instanceof AMQP.Connection.Close close) {
      return new Reply(close.getReplyCode(), close.getReplyText());
    }
    return new Reply(0, "");
  }

  /** The code of {@link #reply} in what the client threw. */
  static int replyCode(Throwable failure) {
    ShutdownSignalException signal = signal(failure);
    return signal == null ? 0 : reply(signal).code();
  }

  /** The failure of an open channel or connection, or of an operation on it. */
  static FencepostException of(Throwable failure, String what) {
    if (failure instanceof FencepostException known) {
      return known;
    }
    ShutdownSignalException signal = signal(failure);
    if (signal != null) {
      Reply reply = reply(signal);
      return new FencepostException(kind(reply.code()), what + ": " + text(reply, signal), failure);
    }
    boolean late =
        failure instanceof TimeoutException
            || failure instanceof ChannelContinuationTimeoutException;
    FailureKind kind = late ? FailureKind.TIMEOUT : FailureKind.CHANNEL_CLOSED;
    return new FencepostException(kind, what + ": " + describe(failure), failure);
  }

  /** The failure of a login at {@code uri}. */
  static FencepostException ofConnect(Throwable failure, BrokerUri uri) {
    if (failure instanceof FencepostException known) {
      return known;
    }
    ShutdownSignalException signal = signal(failure);
    Reply reply = signal == null ? new Reply(0, "") : reply(signal);
    if (failure instanceof AuthenticationFailureException
        || reply.code() == AMQP.ACCESS_REFUSED
        || reply.code() == AMQP.NOT_ALLOWED
        || reply.code() == AMQP.NOT_FOUND) {
      String said = reply.code() == 0 ? describe(failure) : text(reply, failure);
      return new FencepostException(
          FailureKind.BROKER_AUTHENTICATION,
          "broker " + uri + ": login refused: " + said.lines().findFirst().orElse(""),
          failure);
    }
    return new FencepostException(
        FailureKind.BROKER_UNREACHABLE,
        "broker " + uri + ": " + (signal == null ? describe(failure) : text(reply, signal)),
        failure);
  }

  /**
   * Whether a closure accuses what was published on it, and of what.
   *
   * @param refusable a message in flight carries a property that the broker may answer with 406: a
   *     user id that is not ours, or a reply to a consumer that there is not. Besides its size
   *     nothing else was not checked before writing
   * @return null for transport faults, which accuse no message
   */
  static @Nullable ParkedReason refusal(int code, boolean refusable) {
    return switch (code) {
      case AMQP.ACCESS_REFUSED, AMQP.NOT_ALLOWED -> ParkedReason.ACCESS_REFUSED;
      case AMQP.NOT_FOUND -> ParkedReason.EXCHANGE_MISSING;
      case CONTENT_TOO_LARGE -> ParkedReason.TOO_LARGE;
      case AMQP.PRECONDITION_FAILED ->
          refusable ? ParkedReason.INVALID_PROPERTY : ParkedReason.TOO_LARGE;
      case FRAME_ERROR, SYNTAX_ERROR -> ParkedReason.INVALID_PROPERTY;
      default -> null;
    };
  }

  static FailureKind kind(int code) {
    return switch (code) {
      case AMQP.ACCESS_REFUSED, AMQP.NOT_ALLOWED, AMQP.RESOURCE_LOCKED ->
          FailureKind.BROKER_ACCESS_REFUSED;
      case AMQP.NOT_FOUND -> FailureKind.BROKER_NOT_FOUND;
      case AMQP.PRECONDITION_FAILED, CONTENT_TOO_LARGE, FRAME_ERROR, SYNTAX_ERROR ->
          FailureKind.BROKER_PRECONDITION;
      default -> FailureKind.CHANNEL_CLOSED;
    };
  }

  private static @Nullable ShutdownSignalException signal(@Nullable Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof ShutdownSignalException signal) {
        return signal;
      }
    }
    return null;
  }

  private static String text(Reply reply, Throwable failure) {
    return reply.code() == 0
        ? "connection lost: " + describe(failure)
        : reply.code() + " " + reply.text();
  }

  private static String describe(Throwable failure) {
    Throwable root = failure;
    while (root instanceof ShutdownSignalException && root.getCause() != null) {
      root = root.getCause();
    }
    String message = root.getMessage();
    return message == null ? root.getClass().getSimpleName() : message;
  }
}
