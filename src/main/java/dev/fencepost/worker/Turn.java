package dev.fencepost.worker;

import org.jspecify.annotations.Nullable;

/** What takes its turn among the events of its key. Confined to the worker's context. */
abstract class Turn {
  /** Whether later events of its key wait for it. */
  boolean hasTurn;

  /** Whether it has left: its turn, when it comes, is the next one's. */
  boolean finished;

  /** The key in whose order it goes, or null where none is kept. */
  abstract @Nullable String orderedBy();
}
