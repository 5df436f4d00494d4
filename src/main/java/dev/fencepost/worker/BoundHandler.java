package dev.fencepost.worker;

import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.EffectHandler;

/** A handler that has been found and made for one activity type. */
public sealed interface BoundHandler {
  record Async(ActivityHandler handler) implements BoundHandler {}

  record Blocking(BlockingActivityHandler handler) implements BoundHandler {}

  record Effect(EffectHandler handler) implements BoundHandler {}
}
