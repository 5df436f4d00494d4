package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig.Relay.Limits;
import dev.fencepost.decide.RefusalPolicy;
import dev.fencepost.model.OutboxRow.Route;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.ParkedRows.Destination;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the broker refused to a lane to publish: what goes there is parked without being sent, and
 * one row at a time tries again. That is a whole exchange until a row of another routing key gets
 * through: brokers give rights by topic, too. From then on it is single routing keys of it, and the
 * whole again when many in a row are refused.
 */
final class Destinations {
  /** Each costs a channel, and the others are not known to be refused. */
  private static final int IN_A_ROW = 5;

  /** Routing keys that are remembered. */
  private static final int MOST = 1_000;

  private final Limits limits;
  private final Map<Destination, Refused> refused = new HashMap<>();

  /** Exchanges that took some routing keys, and how many others they refused since. */
  private final Map<String, Integer> choosy = new HashMap<>();

  /**
   * @param by null: not known
   */
  private record Refused(ParkedReason reason, int attempts, @Nullable Route by) {}

  Destinations(Limits limits) {
    this.limits = limits;
  }

  /** Whether such a refusal is about the destination, not about the row. */
  static boolean about(ParkedReason reason) {
    return reason == ParkedReason.EXCHANGE_MISSING || reason == ParkedReason.ACCESS_REFUSED;
  }

  /**
   * Whether what proves one row innocent of such a refusal proves the other, too. An exchange is
   * there for all of its rows; rights may depend on the routing key.
   */
  static boolean alike(ParkedReason reason, Route one, Route other) {
    return kind(reason, one).equals(kind(reason, other));
  }

  /** What two rows have in common that are {@link #alike}. */
  static Object kind(ParkedReason reason, Route route) {
    return reason == ParkedReason.ACCESS_REFUSED ? route : route.exchange();
  }

  boolean none() {
    return refused.isEmpty() && choosy.isEmpty();
  }

  /** What takes nothing and such a row goes to, or null when it may be sent. */
  @Nullable Destination refusing(Route route) {
    if (refused.isEmpty()) {
      return null;
    }
    Destination all = Destination.whole(route);
    Destination one = Destination.single(route);
    return refused.containsKey(all) ? all : refused.containsKey(one) ? one : null;
  }

  /** Why such a row may not be sent, or null when it may. */
  @Nullable ParkedReason refusal(Route route) {
    Refused known = known(route);
    return known == null ? null : known.reason();
  }

  private @Nullable Refused known(Route route) {
    Destination destination = refusing(route);
    return destination == null ? null : refused.get(destination);
  }

  /** An exchange refused a row before this lane came to us. */
  void refuse(String exchange, ParkedReason reason) {
    refused.put(new Destination(exchange, null), new Refused(reason, 1, null));
  }

  /** Nothing that goes there is confirmed. */
  void silent(Destination destination) {
    Refused before = refused.get(destination);
    if (before == null && refused.size() >= MOST) {
      refused.keySet().removeIf(each -> each.routingKey() != null);
    }
    int attempts = before == null ? 1 : before.attempts() + 1;
    refused.put(destination, new Refused(ParkedReason.REJECTED, attempts, null));
  }

  /** It was tried again, in vain, unless it is known by now that something is confirmed there. */
  void silentStill(Destination destination) {
    Refused before = refused.get(destination);
    if (before != null && before.reason() == ParkedReason.REJECTED) {
      silent(destination);
    }
  }

  /** Where such a row goes without being confirmed, or null. */
  @Nullable Destination silent(Route route) {
    Destination known = refusing(route);
    Refused how = known == null ? null : refused.get(known);
    return how != null && how.reason() == ParkedReason.REJECTED ? known : null;
  }

  /** One of those of which no confirm comes, or null. */
  @Nullable Destination anySilent() {
    for (Map.Entry<Destination, Refused> each : refused.entrySet()) {
      if (each.getValue().reason() == ParkedReason.REJECTED) {
        return each.getKey();
      }
    }
    return null;
  }

  void refuse(Route route, ParkedReason reason) {
    Destination destination = accused(route, reason);
    Refused before = refused.get(destination);
    int attempts = before == null ? 1 : before.attempts() + 1;
    refused.put(destination, new Refused(reason, attempts, route));
  }

  private Destination accused(Route route, ParkedReason reason) {
    Integer others = reason == ParkedReason.ACCESS_REFUSED ? choosy.get(route.exchange()) : null;
    Destination one = Destination.single(route);
    if (others != null && refused.containsKey(one)) {
      return one;
    }
    if (others == null || others >= IN_A_ROW) {
      choosy.remove(route.exchange());
      refused.keySet().removeIf(each -> within(each, route.exchange()));
      return Destination.whole(route);
    }
    if (refused.size() >= MOST) {
      refused.keySet().removeIf(each -> each.routingKey() != null);
    }
    choosy.put(route.exchange(), others + 1);
    return one;
  }

  private static boolean within(Destination each, String exchange) {
    return each.routingKey() != null && each.exchange().equals(exchange);
  }

  /** The exchange took such a row. */
  void accept(Route route) {
    if (none()) {
      return;
    }
    Refused all = refused.remove(Destination.whole(route));
    if (all != null && all.reason() == ParkedReason.ACCESS_REFUSED) {
      choosy.put(route.exchange(), 0);
      if (all.by() != null) {
        refused.put(Destination.single(all.by()), all);
      }
    }
    choosy.computeIfPresent(route.exchange(), (exchange, others) -> 0);
    refused.remove(Destination.single(route));
  }

  /** How long a row waits that was refused that many times. */
  Duration backoff(Route route, int attempts) {
    Refused known = known(route);
    return backoff(known == null ? attempts : known.attempts());
  }

  /** How long what goes there waits, or null where rows are taken by now. */
  @Nullable Duration pause(Destination destination) {
    Refused known = refused.get(destination);
    return known == null ? null : backoff(known.attempts());
  }

  private Duration backoff(int n) {
    return RefusalPolicy.backoff(n, limits.parkedBackoffBase(), limits.parkedBackoffMax());
  }
}
