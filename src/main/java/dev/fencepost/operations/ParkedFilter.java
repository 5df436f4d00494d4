package dev.fencepost.operations;

import dev.fencepost.model.ParkedReason;
import org.jspecify.annotations.Nullable;

/** Null means any. */
public record ParkedFilter(
    @Nullable String key, @Nullable String exchange, @Nullable ParkedReason reason) {

  /** From what an operator entered. */
  public static ParkedFilter of(
      @Nullable String key, @Nullable String exchange, @Nullable String reason) {
    return new ParkedFilter(
        Input.optional("key", key),
        Input.optional("exchange", exchange),
        Input.choice("reason", reason, ParkedReason.class));
  }
}
