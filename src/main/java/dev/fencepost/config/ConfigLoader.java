package dev.fencepost.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fencepost.config.ConfigFaults.Fault;
import dev.fencepost.config.FencepostConfig.Broker;
import dev.fencepost.config.FencepostConfig.Database;
import dev.fencepost.config.FencepostConfig.Operation;
import dev.fencepost.config.FencepostConfig.Relay;
import dev.fencepost.config.FencepostConfig.Worker;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the configuration file (contract §3): defaults for what is left out, the environment put
 * in, and every fault at once. Blocks on the file; called at start and at a reload.
 */
public final class ConfigLoader {
  private final Reading reading;

  private ConfigLoader(Map<String, String> environment) {
    this.reading = new Reading(new Variables(environment));
  }

  /**
   * @throws ConfigFaults when the file cannot be read or is wrong anywhere
   */
  public static FencepostConfig load(Path file, Map<String, String> environment) {
    try {
      return parse(Files.readString(file), environment);
    } catch (NoSuchFileException e) {
      throw unreadable(file, "there is no such file");
    } catch (CharacterCodingException e) {
      throw unreadable(file, "is not UTF-8 text");
    } catch (IOException e) {
      throw unreadable(file, "cannot be read (" + e.getClass().getSimpleName() + ")");
    }
  }

  /**
   * @param yaml what the file holds
   * @throws ConfigFaults when it is wrong anywhere
   */
  public static FencepostConfig parse(String yaml, Map<String, String> environment) {
    return new ConfigLoader(environment).read(yaml);
  }

  /** Every key there is, with {@code *} for the names that users choose. */
  static Set<String> keys(String yaml, Map<String, String> environment) {
    ConfigLoader loader = new ConfigLoader(environment);
    loader.read(yaml);
    return loader.reading.askedKeys;
  }

  private FencepostConfig read(String yaml) {
    JsonNode tree = YamlTree.read(yaml, reading.faults);
    Section root = Section.root(reading, tree);
    Database database = ServerSections.database(root.child("database"));
    Broker broker = ServerSections.broker(root.child("broker"));
    Relay relay = RelaySection.read(root.child("relay"));
    Worker worker = WorkerSection.read(root.child("worker"));
    Map<String, QueueConfig> queues = queues(root, broker);
    Operation operation = OperationSections.read(root);
    if (!relay.enabled() && !worker.enabled()) {
      root.child("relay")
          .fault("enabled", "false beside worker.enabled false leaves nothing to run", "one true");
    }
    root.close();
    if (!reading.faults.isEmpty()) {
      throw new ConfigFaults(List.copyOf(new LinkedHashSet<>(reading.faults)));
    }
    return new FencepostConfig(database, broker, relay, worker, queues, operation);
  }

  private static Map<String, QueueConfig> queues(Section root, Broker broker) {
    Map<String, QueueConfig> queues = new LinkedHashMap<>();
    Map<String, String> consumers = new HashMap<>();
    root.named("queues")
        .forEach(
            (name, section) -> {
              if (!QueueSection.CONSUMER.matcher(name).matches()) {
                root.fault(
                    "queues", Redaction.value(name) + " is no name", QueueSection.CONSUMER_FORM);
              }
              QueueConfig queue = QueueSection.read(name, section, broker.consumerTimeout());
              if (queue == null) {
                return;
              }
              String other = consumers.putIfAbsent(queue.queue(), name);
              if (other != null) {
                section.fault(
                    "queue",
                    queue.queue() + " is consumed by " + other + " too",
                    "one consumer for each AMQP queue");
              }
              queues.put(name, queue);
            });
    return Collections.unmodifiableMap(queues);
  }

  private static ConfigFaults unreadable(Path file, String problem) {
    return new ConfigFaults(List.of(new Fault(file.toString(), problem, "a readable YAML file")));
  }
}
