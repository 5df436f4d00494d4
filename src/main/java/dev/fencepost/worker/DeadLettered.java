package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.ErrorInfo;
import org.jspecify.annotations.Nullable;

/**
 * An event that has ended as a dead letter.
 *
 * @param type null where the message names none
 * @param attempts starts; 1 for poison
 * @param error why, as far as it is known
 */
public record DeadLettered(
    ActivityId id,
    @Nullable String type,
    DeadLetterReason reason,
    int attempts,
    @Nullable ErrorInfo error) {}
