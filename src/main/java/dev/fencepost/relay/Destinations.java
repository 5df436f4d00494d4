package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig.Relay.Limits;
import dev.fencepost.decide.RefusalPolicy;
import dev.fencepost.model.ParkedReason;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges that the broker refused to a lane: what goes there is parked without being sent, and
 * one row at a time tries again.
 */
final class Destinations {
  private final Limits limits;
  private final Map<String, Refused> refused = new HashMap<>();

  private record Refused(ParkedReason reason, int attempts) {}

  Destinations(Limits limits) {
    this.limits = limits;
  }

  /** Whether such a refusal is about the exchange, not about the row. */
  static boolean about(ParkedReason reason) {
    return reason == ParkedReason.EXCHANGE_MISSING || reason == ParkedReason.ACCESS_REFUSED;
  }

  boolean none() {
    return refused.isEmpty();
  }

  /** Why the exchange takes nothing, or null when it may. */
  @Nullable ParkedReason refusal(String exchange) {
    Refused known = refused.get(exchange);
    return known == null ? null : known.reason();
  }

  void refuse(String exchange, ParkedReason reason) {
    Refused before = refused.get(exchange);
    refused.put(exchange, new Refused(reason, before == null ? 1 : before.attempts() + 1));
  }

  void accept(String exchange) {
    refused.remove(exchange);
  }

  /** How long a row waits that was refused that many times. */
  Duration backoff(String exchange, int attempts) {
    Refused known = refused.get(exchange);
    int n = known == null ? attempts : known.attempts();
    return RefusalPolicy.backoff(n, limits.parkedBackoffBase(), limits.parkedBackoffMax());
  }
}
