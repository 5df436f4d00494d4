package dev.fencepost.config;

import static dev.fencepost.config.Values.between;

import dev.fencepost.config.QueueConfig.Binding;
import dev.fencepost.config.QueueConfig.Declare;
import dev.fencepost.config.QueueConfig.Intake;
import dev.fencepost.config.QueueConfig.Ordering;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads one consumer of {@code queues}. */
final class QueueSection {
  static final Pattern CONSUMER = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
  static final String CONSUMER_FORM =
      "1 to 100 of A-Z, a-z, 0-9, '.', '_' and '-', the first a letter or digit";

  private static final int LONGEST_NAME = 255;
  private static final String NAME_FORM = "1 to 255 bytes without control characters";
  private static final Pattern NAME = Pattern.compile("[^\\p{Cntrl}]+");
  private static final Pattern QUEUE_TYPE = Pattern.compile("quorum|classic");
  private static final Pattern EXCHANGE_TYPE = Pattern.compile("topic|direct|fanout|headers|x-.+");

  private QueueSection() {}

  /**
   * @return null, and a fault, when a required part is missing
   */
  static @Nullable QueueConfig read(String name, Section section, Duration consumerTimeout) {
    Values values = new Values(section);
    String queue = name(section, "queue");
    if (queue == null && section.sound("queue")) {
      section.fault("queue", "is missing", "the AMQP queue: " + NAME_FORM);
    }
    Declare declare = section.has("declare") ? declare(section, queue) : null;
    section.child("declare");
    Intake intake = intake(section, values);
    String exchange = name(section, "dead-letter-exchange");
    Map<String, ActivityConfig> activities = activities(section, intake, consumerTimeout);
    String defaultType = name(section, "default-type");
    if (defaultType != null
        && section.sound("activities", "default-type")
        && !section.child("activities").has(defaultType)) {
      section.fault(
          "default-type",
          Redaction.value(defaultType) + " is not among the activities",
          String.join(", ", activities.keySet()));
    }
    section.close();
    return queue == null
        ? null
        : new QueueConfig(name, queue, declare, intake, exchange, defaultType, activities);
  }

  private static Intake intake(Section section, Values values) {
    int prefetch = values.whole("prefetch", 256, between(1, 65_535));
    int concurrency = values.whole("concurrency", Math.min(64, prefetch), between(1, 65_535));
    if (section.sound("prefetch", "concurrency") && concurrency > prefetch) {
      section.fault(
          "concurrency", concurrency + " is above prefetch " + prefetch, "at most " + prefetch);
    }
    return new Intake(prefetch, concurrency, values.choice("ordering", Ordering.NONE));
  }

  private static Map<String, ActivityConfig> activities(
      Section section, Intake intake, Duration consumerTimeout) {
    Map<String, ActivityConfig> activities = new LinkedHashMap<>();
    Map<String, Section> sections = section.named("activities");
    if (sections.isEmpty() && section.sound("activities")) {
      section.fault("activities", "is empty", "at least one activity type");
    }
    sections.forEach(
        (type, one) -> {
          if (!isName(type)) {
            section.fault("activities", "has a type that is no name", NAME_FORM);
          }
          ActivityConfig activity = ActivitySection.read(type, one, intake, consumerTimeout);
          if (activity != null) {
            activities.put(type, activity);
          }
        });
    return Collections.unmodifiableMap(activities);
  }

  private static Declare declare(Section queue, @Nullable String queueName) {
    Section section = queue.child("declare");
    String type = new Values(section).matching("type", "quorum", QUEUE_TYPE, "quorum or classic");
    List<Binding> bindings = new ArrayList<>();
    for (Section bind : section.list("bind")) {
      bindings.add(binding(bind));
    }
    if (queueName != null && queueName.startsWith("amq.")) {
      queue.fault("queue", queueName + " is a reserved name", "a name that does not start amq.");
    }
    section.close();
    return new Declare(type, List.copyOf(bindings));
  }

  private static Binding binding(Section section) {
    String exchange = name(section, "exchange");
    if (exchange == null && section.sound("exchange")) {
      section.fault("exchange", "is missing", "the name of an exchange: " + NAME_FORM);
    }
    String type =
        new Values(section)
            .matching(
                "exchange-type", "topic", EXCHANGE_TYPE, "topic, direct, fanout, headers or x-…");
    String routingKey = section.text("routing-key");
    if (routingKey == null && type.equals("direct") && section.sound("routing-key")) {
      section.fault("routing-key", "is missing beside a direct exchange", "a routing key");
    }
    if (routingKey == null) {
      routingKey = type.equals("topic") ? "#" : "";
    } else if (!routingKey.isEmpty() && !isName(routingKey)) {
      section.fault("routing-key", Redaction.value(routingKey) + " does not fit", NAME_FORM);
    }
    section.close();
    return new Binding(exchange == null ? "" : exchange, type, routingKey);
  }

  private static @Nullable String name(Section section, String key) {
    String name = section.text(key);
    if (name == null || name.isEmpty()) {
      return null;
    }
    if (!isName(name)) {
      section.fault(key, Redaction.value(name) + " does not fit", NAME_FORM);
    }
    return name;
  }

  private static boolean isName(String name) {
    return NAME.matcher(name).matches()
        && name.getBytes(StandardCharsets.UTF_8).length <= LONGEST_NAME;
  }
}
