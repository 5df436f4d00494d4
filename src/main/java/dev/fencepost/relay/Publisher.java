package dev.fencepost.relay;

import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Port: publishes with {@code mandatory} and publisher confirms. Called on one context. */
public interface Publisher {

  /**
   * Opens a channel of its own for publishing (connections are shared behind it and are opened when
   * needed). All calls of {@code listener} come on the caller's context, none after {@code closed}.
   *
   * @param name for logs and the connection's name, such as {@code lane-3} or {@code quarantine-3}
   * @return fails with a {@link FencepostException} of a BROKER_… kind; the caller backs off
   */
  Future<PublishChannel> open(String name, TrustDeadline trust, Listener listener);

  /** Closes all channels and connections. */
  Future<Void> close();

  /** An open channel; its epoch ends with it. */
  interface PublishChannel {
    /**
     * Hands a batch to the writing thread and returns. Each row ends in exactly one verdict, or in
     * {@link Listener#closed}. Rows with one event id must not be in flight together. Sizes and
     * properties are checked before anything is written: such a row gets its refusal as a verdict
     * and the channel lives on.
     */
    void publish(List<OutboxRow> rows);

    /** Closes it; outstanding rows get no verdict. The listener is not called any more. */
    Future<Void> close();
  }

  /**
   * Until when this process may publish, on {@link System#nanoTime()}; read immediately before each
   * write. Past it the channel writes nothing more and closes itself.
   */
  interface TrustDeadline {
    long nanoTime();
  }

  interface Listener {
    /** Verdicts of one or more rows, in the order the broker gave them. */
    void settled(List<Verdict> verdicts);

    /** The broker blocks publishing (memory or disk alarm), or no longer does. */
    void blocked(boolean blocked, String reason);

    /**
     * The channel has gone; rows without a verdict are unsettled.
     *
     * @param refusal not null when the broker closed the channel because of what was published
     *     (403, 404, 406 …): one of the unsettled rows is guilty; null for transport faults
     */
    void closed(FencepostException cause, @Nullable ParkedReason refusal);
  }

  /**
   * @param refusal null when the broker confirmed it; {@code detail} is the reply text
   */
  record Verdict(long seq, @Nullable ParkedReason refusal, @Nullable String detail) {
    public static Verdict confirmed(long seq) {
      return new Verdict(seq, null, null);
    }
  }
}
