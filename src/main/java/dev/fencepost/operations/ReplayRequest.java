package dev.fencepost.operations;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Publish once more what is still retained. Old events then follow newer ones of their key.
 *
 * @param since by {@code created_at}, inclusive
 * @param until exclusive; null: the database's time when it starts
 * @param ratePerSecond 0 for as fast as it goes
 */
public record ReplayRequest(
    Instant since,
    @Nullable Instant until,
    @Nullable String exchange,
    @Nullable String type,
    boolean dryRun,
    int ratePerSecond) {

  public ReplayRequest {
    new TimeSpan(since, until);
    Input.optional("exchange", exchange);
    Input.optional("type", type);
    if (ratePerSecond < 0) {
      throw Input.refused("rate", Integer.toString(ratePerSecond), "1 or more per second");
    }
  }

  /**
   * @throws FencepostException INVALID_INPUT when {@code since} is missing
   */
  public static Instant requireSince(@Nullable Instant since) {
    if (since == null) {
      throw new FencepostException(
          FailureKind.INVALID_INPUT, "since: is missing; say from when to replay");
    }
    return since;
  }
}
