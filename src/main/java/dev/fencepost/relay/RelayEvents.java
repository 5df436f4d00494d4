package dev.fencepost.relay;

import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import java.time.Duration;

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

  void lanesOwned(int lanes);
}
