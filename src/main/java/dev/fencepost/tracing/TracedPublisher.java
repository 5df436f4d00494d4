package dev.fencepost.tracing;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A span from the write of a row to its verdict; the message carries it on. */
final class TracedPublisher implements Publisher {
  private static final Logger LOG = LoggerFactory.getLogger(TracedPublisher.class);

  private final Publisher publisher;
  private final Tracer tracer;

  TracedPublisher(Publisher publisher, Tracer tracer) {
    this.publisher = publisher;
    this.tracer = tracer;
  }

  @Override
  public Future<PublishChannel> open(String name, TrustDeadline trust, Listener listener) {
    Map<Long, Span> open = new HashMap<>();
    return publisher
        .open(name, trust, new Ending(listener, open))
        .map(channel -> new Beginning(channel, open));
  }

  @Override
  public Future<Void> close() {
    return publisher.close();
  }

  private static void endAll(Map<Long, Span> open, String error) {
    open.values().forEach(span -> end(span, error));
    open.clear();
  }

  private static void end(Span span, @Nullable String error) {
    if (error != null) {
      span.setStatus(StatusCode.ERROR).setAttribute("error.type", error);
    }
    span.end();
  }

  private final class Beginning implements PublishChannel {
    private final PublishChannel channel;
    private final Map<Long, Span> open;

    Beginning(PublishChannel channel, Map<Long, Span> open) {
      this.channel = channel;
      this.open = open;
    }

    @Override
    public void publish(List<OutboxRow> rows) {
      List<OutboxRow> traced = new ArrayList<>(rows.size());
      for (OutboxRow row : rows) {
        traced.add(tracedOrNot(row));
      }
      channel.publish(traced);
    }

    /** Whatever tracing makes of a row, it is published. */
    private OutboxRow tracedOrNot(OutboxRow row) {
      try {
        return traced(row);
      } catch (RuntimeException fault) {
        LOG.debug("event {} is not traced", row.eventId(), fault);
        return row;
      }
    }

    private OutboxRow traced(OutboxRow row) {
      OutboxRow.Message message = row.message();
      ObjectNode headers = TraceHeaders.parse(message.headers());
      if (headers == null) {
        return row;
      }
      Context parent = TraceHeaders.parent(headers);
      Span span =
          tracer
              .spanBuilder("publish " + row.route().exchange())
              .setSpanKind(SpanKind.PRODUCER)
              .setParent(parent)
              .setAttribute("messaging.system", "rabbitmq")
              .setAttribute("messaging.operation.name", "publish")
              .setAttribute("messaging.destination.name", row.route().exchange())
              .setAttribute("messaging.rabbitmq.destination.routing_key", row.route().routingKey())
              .setAttribute("messaging.message.id", row.eventId())
              .setAttribute("fencepost.lane", row.at().lane())
              .startSpan();
      open.put(row.seq(), span);
      OutboxRow.Message carrying =
          new OutboxRow.Message(
              message.body(),
              message.contentType(),
              TraceHeaders.with(headers, parent.with(span)),
              message.properties(),
              message.written());
      return new OutboxRow(row.at(), row.route(), row.eventId(), row.type(), row.key(), carrying);
    }

    @Override
    public Future<Void> close() {
      return channel.close().onComplete(done -> endAll(open, "closed"));
    }
  }

  private record Ending(Listener listener, Map<Long, Span> open) implements Listener {
    @Override
    public void settled(List<Verdict> verdicts) {
      for (Verdict verdict : verdicts) {
        Span span = open.remove(verdict.seq());
        if (span != null) {
          ParkedReason refusal = verdict.refusal();
          end(span, refusal == null ? null : refusal.wire());
        }
      }
      listener.settled(verdicts);
    }

    @Override
    public void blocked(boolean blocked, String reason) {
      listener.blocked(blocked, reason);
    }

    @Override
    public void closed(FencepostException cause, @Nullable ParkedReason refusal) {
      endAll(open, cause.kind().name());
      listener.closed(cause, refusal);
    }
  }
}
