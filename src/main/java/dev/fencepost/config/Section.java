package dev.fencepost.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fencepost.config.ConfigFaults.Fault;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One mapping of the file while it is read. A key that is asked for is known; {@link #close} makes
 * faults of the others. A faulty key yields its default, and is not {@link #sound} for rules across
 * keys, so that one mistake is told once.
 */
final class Section {
  private final Reading reading;
  private final String path;
  private final String pattern;
  private final ObjectNode node;
  private final Set<String> known = new HashSet<>();
  private final Set<String> faulty = new HashSet<>();

  private Section(Reading reading, String path, String pattern, ObjectNode node) {
    this.reading = reading;
    this.path = path;
    this.pattern = pattern;
    this.node = node;
  }

  static Section root(Reading reading, JsonNode node) {
    if (node instanceof ObjectNode object) {
      return new Section(reading, "", "", object);
    }
    if (!node.isNull()) {
      reading.faults.add(new Fault("file", "is not a mapping of keys", "keys such as database"));
    }
    return new Section(reading, "", "", JsonNodeFactory.instance.objectNode());
  }

  /** The mapping under a key; empty when it is left out. */
  Section child(String key) {
    ask(key);
    return mapping(key, node.get(key), join(pattern, key));
  }

  /** Mappings under names that the user chose, in the file's order. */
  Map<String, Section> named(String key) {
    Section all = child(key);
    Map<String, Section> sections = new LinkedHashMap<>();
    String itsPattern = join(all.pattern, "*");
    all.node
        .fieldNames()
        .forEachRemaining(
            name -> sections.put(name, all.mapping(name, all.node.get(name), itsPattern)));
    return sections;
  }

  /** Mappings in a list. */
  List<Section> list(String key) {
    ask(key);
    JsonNode value = node.get(key);
    List<Section> sections = new ArrayList<>();
    if (value == null || value.isNull()) {
      return sections;
    }
    if (!value.isArray()) {
      wrongType(key, value, "a list of mappings");
      return sections;
    }
    for (int i = 0; i < value.size(); i++) {
      sections.add(mapping(key + "[" + i + "]", value.get(i), join(pattern, key + "[]")));
    }
    return sections;
  }

  /** Texts in a list, variables put in; null when it is left out or faulty. */
  @Nullable List<String> texts(String key) {
    ask(key);
    JsonNode value = node.get(key);
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isArray()) {
      wrongType(key, value, "a list of texts");
      return null;
    }
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < value.size(); i++) {
      String text = scalar(key + "[" + i + "]", value.get(i));
      if (text != null) {
        texts.add(text);
      } else {
        faulty.add(key);
      }
    }
    return faulty.contains(key) ? null : texts;
  }

  /** The text under a key, variables put in; null when it is left out, null or faulty. */
  @Nullable String text(String key) {
    ask(key);
    JsonNode value = node.get(key);
    return value == null || value.isNull() ? null : scalar(key, value);
  }

  /** The key is there and not null. */
  boolean has(String key) {
    return node.hasNonNull(key);
  }

  boolean isText(String key) {
    JsonNode value = node.get(key);
    return value != null && value.isTextual();
  }

  /** No fault was found at any of these keys. */
  boolean sound(String... keys) {
    for (String key : keys) {
      if (faulty.contains(key)) {
        return false;
      }
    }
    return true;
  }

  void fault(String key, String problem, String allowed) {
    faulty.add(key);
    reading.faults.add(new Fault(join(path, key), problem, allowed));
  }

  /** Text that is a default: read as if it stood in the file. */
  String standard(String key, String template) {
    String text = reading.variables.resolve(template, problem -> fault(key, problem, "a value"));
    return text == null ? "" : text;
  }

  /** To be called once every known key has been asked for. */
  void close() {
    node.fieldNames()
        .forEachRemaining(
            key -> {
              if (!known.contains(key)) {
                fault(key, "unknown key" + NearMiss.hint(key, known), NearMiss.list(known));
              }
            });
  }

  String path() {
    return path;
  }

  private Section mapping(String key, @Nullable JsonNode value, String itsPattern) {
    if (value instanceof ObjectNode object) {
      return new Section(reading, join(path, key), itsPattern, object);
    }
    if (value != null && !value.isNull()) {
      wrongType(key, value, "a mapping of keys");
    }
    ObjectNode empty = JsonNodeFactory.instance.objectNode();
    return new Section(reading, join(path, key), itsPattern, empty);
  }

  private @Nullable String scalar(String key, JsonNode value) {
    if (!value.isTextual()) {
      wrongType(key, value, "one value");
      return null;
    }
    return reading.variables.resolve(
        value.textValue(), problem -> fault(key, problem, "a value for it, or ${NAME:default}"));
  }

  private void wrongType(String key, JsonNode value, String allowed) {
    // The value is not shown: in the wrong place it may well be a secret.
    String kind = value.isArray() ? "a list" : value.isObject() ? "a mapping" : "a single value";
    fault(key, kind + " is of the wrong type", allowed);
  }

  private void ask(String key) {
    if (known.add(key)) {
      reading.askedKeys.add(join(pattern, key));
    }
  }

  private static String join(String parent, String key) {
    return parent.isEmpty() ? key : parent + "." + key;
  }
}
