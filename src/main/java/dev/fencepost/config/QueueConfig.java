package dev.fencepost.config;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One consumer.
 *
 * @param name the consumer's name: part of every receipt, and the label {@code queue}
 * @param queue the AMQP queue
 * @param declare what to declare, or null when the queue is somebody else's
 */
public record QueueConfig(
    String name,
    String queue,
    @Nullable Declare declare,
    Intake intake,
    @Nullable String deadLetterExchange,
    @Nullable String defaultType,
    Map<String, ActivityConfig> activities) {

  public enum Ordering {
    NONE,
    KEY
  }

  /** How much is taken in at once, and in which order. */
  public record Intake(int prefetch, int concurrency, Ordering ordering) {}

  /**
   * @param type {@code quorum} or {@code classic}
   */
  public record Declare(String type, List<Binding> bind) {}

  public record Binding(String exchange, String exchangeType, String routingKey) {}

  /** The same queue with another intake. */
  public QueueConfig with(Intake changed) {
    return new QueueConfig(
        name, queue, declare, changed, deadLetterExchange, defaultType, activities);
  }
}
