package dev.fencepost.operations;

import dev.fencepost.model.ActivityState;
import org.jspecify.annotations.Nullable;

/** Null means any. */
public record ActivityFilter(
    @Nullable String consumer, @Nullable String type, @Nullable ActivityState state) {

  /** From what an operator entered. */
  public static ActivityFilter of(
      @Nullable String consumer, @Nullable String type, @Nullable String state) {
    return new ActivityFilter(
        Input.optional("consumer", consumer),
        Input.optional("type", type),
        Input.choice("state", state, ActivityState.class));
  }
}
