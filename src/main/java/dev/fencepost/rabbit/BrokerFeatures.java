package dev.fencepost.rabbit;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a broker says of itself at login.
 *
 * @param product {@code RabbitMQ}, or another broker that speaks AMQP 0-9-1
 */
record BrokerFeatures(String product, String version) {

  private static final Pattern NUMBERS = Pattern.compile("(\\d+)\\.(\\d+).*");

  static BrokerFeatures of(Map<String, Object> serverProperties) {
    return new BrokerFeatures(
        String.valueOf(serverProperties.getOrDefault("product", "")),
        String.valueOf(serverProperties.getOrDefault("version", "")));
  }

  /** Others know no queue types, and nack an unroutable message before they return it. */
  boolean isRabbit() {
    return product.equals("RabbitMQ");
  }

  /** Whether it is RabbitMQ of this version or later; false when the version is unreadable. */
  boolean rabbitAtLeast(int major, int minor) {
    Matcher matcher = NUMBERS.matcher(version);
    if (!isRabbit() || !matcher.matches()) {
      return false;
    }
    int actual = Integer.parseInt(matcher.group(1));
    return actual > major || (actual == major && Integer.parseInt(matcher.group(2)) >= minor);
  }
}
