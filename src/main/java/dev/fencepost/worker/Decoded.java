package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ErrorInfo;
import org.jspecify.annotations.Nullable;

/** What a delivery turned out to be. */
sealed interface Decoded {

  /** An event that can be identified. */
  record Event(String eventId, String type, @Nullable String key) implements Decoded {}

  /** A message that nobody can ever read: dead at once, with its original bytes. */
  record Poison(ActivityId identity, @Nullable String type, ErrorInfo error) implements Decoded {}
}
