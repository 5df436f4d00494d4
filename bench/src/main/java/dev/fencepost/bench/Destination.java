package dev.fencepost.bench;

/** Where events are published to, and how many of them have arrived. */
interface Destination {

  String exchange();

  String routingKey();

  /** Empty and new: the round before has left nothing behind. */
  void recreate();

  /** Events that have arrived; while some of their copies are missing, the part that is there. */
  long depth();

  /** Queues that each event goes to. */
  int copies();
}
