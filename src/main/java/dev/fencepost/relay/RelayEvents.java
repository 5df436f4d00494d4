package dev.fencepost.relay;

import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import java.time.Duration;
import java.util.Set;

/**
 * Port: what the relay tells of itself. Cheap calls on the event loop; implementations never throw.
 */
public interface RelayEvents {

  void published(int lane, int rows);

  void refused(ParkedReason reason);

  /** From the write to the confirm. */
  void confirmed(Duration took);

  void unconfirmed(int lane, int rows);

  /** The age of the oldest unpublished row and why it waits; zero and NONE when nothing does. */
  void lag(int lane, Duration oldest, LagCause cause);

  void parked(long rows);

  /**
   * The lanes that are owned from now on, those that drain included. What was told of any other
   * lane holds no more.
   */
  void lanesOwned(Set<Integer> lanes);
}
