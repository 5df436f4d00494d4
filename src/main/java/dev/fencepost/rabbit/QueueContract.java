package dev.fencepost.rabbit;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.QueueConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a broker will do with a queue, against what the configuration promises. Pure: the facts are
 * passed in, faults and warnings come out, each with its remedy.
 */
final class QueueContract {

  /** Between the hard limit and the acknowledgement: recording the outcome, scheduling. */
  static final Duration MARGIN = Duration.ofSeconds(30);

  /** A quorum queue's own delivery limit from 4.0 on. */
  private static final long DEFAULT_LIMIT = 20;

  private QueueContract() {}

  /**
   * What the management API says of a queue.
   *
   * @param settings its arguments without {@code x-}, and its policies below them
   */
  record Facts(String type, boolean durable, Map<String, Object> settings) {

    /** Arguments go before policies, as the broker has it for all but numeric limits. */
    static Facts of(
        String type, boolean durable, Map<String, Object> arguments, Map<String, Object> policy) {
      Map<String, Object> settings = new HashMap<>(policy);
      arguments.forEach(
          (name, value) ->
              settings.merge(
                  name.startsWith("x-") ? name.substring(2) : name, value, Facts::stricter));
      return new Facts(type, durable, settings);
    }

    private static Object stricter(Object policy, Object argument) {
      if (policy instanceof Number p && argument instanceof Number a) {
        long first = p.longValue();
        long second = a.longValue();
        // Minus one is no limit at all.
        return first < 0 ? a : second < 0 ? p : (Object) Math.min(first, second);
      }
      return argument;
    }

    @Nullable Long number(String name) {
      return settings.get(name) instanceof Number n ? (Long) n.longValue() : null;
    }
  }

  /** What speaks against consuming, and what is only worth saying. */
  record Findings(List<String> faults, List<String> warnings) {}

  /**
   * @param facts null when they cannot be read
   * @param assumedTimeout the consumer timeout where the queue does not say its own
   */
  static Findings look(
      QueueConfig queue, BrokerFeatures broker, @Nullable Facts facts, Duration assumedTimeout) {
    Findings findings = new Findings(new ArrayList<>(), new ArrayList<>());
    consumerTimeout(queue, facts, assumedTimeout, findings);
    if (facts != null && broker.isRabbit()) {
      type(queue, facts, findings);
      deliveryLimit(queue, broker, facts, findings);
      ordering(queue, facts, findings);
      losses(queue, facts, findings);
    }
    return findings;
  }

  private static void consumerTimeout(
      QueueConfig queue, @Nullable Facts facts, Duration assumed, Findings findings) {
    Long own = facts == null ? null : facts.number("consumer-timeout");
    Duration timeout = own == null ? assumed : Duration.ofMillis(own);
    for (ActivityConfig activity : queue.activities().values()) {
      Duration hard = activity.timing().hard();
      if (hard.plus(MARGIN).compareTo(timeout) > 0) {
        findings
            .faults()
            .add(
                "activity "
                    + activity.type()
                    + " may run for "
                    + seconds(hard)
                    + " (limits.hard), but the broker takes back a message that is not acknowledged"
                    + " within its consumer timeout of "
                    + seconds(timeout)
                    + (own == null ? " (broker.consumer-timeout)" : "")
                    + ": lower the hard limit, or raise the timeout, so that "
                    + seconds(MARGIN)
                    + " lie between them");
      }
    }
  }

  private static void type(QueueConfig queue, Facts facts, Findings findings) {
    if (facts.type().equals("stream")) {
      findings
          .faults()
          .add(
              "'"
                  + queue.queue()
                  + "' is a stream, which keeps no message until it is"
                  + " acknowledged: use a quorum or classic queue");
    }
    if (!facts.durable()) {
      findings
          .warnings()
          .add(
              "'"
                  + queue.queue()
                  + "' is not durable: a restart of the broker loses it and what"
                  + " is in it");
    }
  }

  private static void deliveryLimit(
      QueueConfig queue, BrokerFeatures broker, Facts facts, Findings findings) {
    if (!facts.type().equals("quorum")) {
      return;
    }
    Long limit = facts.number("delivery-limit");
    if (limit == null && broker.rabbitAtLeast(4, 0)) {
      limit = DEFAULT_LIMIT;
    }
    if (limit != null && limit >= 0) {
      findings
          .faults()
          .add(
              "quorum queue '"
                  + queue.queue()
                  + "' has a delivery limit of "
                  + limit
                  + ": the broker removes a message whose consumer was lost that often, and no"
                  + " receipt or dead letter of ours says so. Set delivery-limit to -1 by a policy,"
                  + " or declare the queue with x-delivery-limit -1"
                  + (broker.rabbitAtLeast(4, 0) ? "" : " or, before RabbitMQ 4.0, without it"));
    }
  }

  private static void ordering(QueueConfig queue, Facts facts, Findings findings) {
    boolean single = Boolean.TRUE.equals(facts.settings().get("single-active-consumer"));
    if (queue.intake().ordering() == QueueConfig.Ordering.KEY && !single) {
      findings
          .faults()
          .add(
              "ordering is key, but '"
                  + queue.queue()
                  + "' has no single active consumer: two processes would take events of one key"
                  + " at the same time. Declare it with x-single-active-consumer, or let"
                  + " queues."
                  + queue.name()
                  + ".declare do it");
    }
  }

  private static void losses(QueueConfig queue, Facts facts, Findings findings) {
    for (String name : List.of("message-ttl", "expires", "max-length", "max-length-bytes")) {
      boolean kept =
          name.startsWith("max-")
              && String.valueOf(facts.settings().get("overflow")).startsWith("reject-publish");
      if (facts.settings().containsKey(name) && !kept) {
        findings
            .warnings()
            .add(
                "'"
                    + queue.queue()
                    + "' has "
                    + name
                    + " "
                    + facts.settings().get(name)
                    + ": the broker may remove messages that nobody has taken yet");
      }
    }
  }

  private static String seconds(Duration duration) {
    return duration.toMillis() % 1000 == 0
        ? duration.toSeconds() + "s"
        : duration.toMillis() + "ms";
  }
}
