package dev.fencepost.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.fencepost.config.ConfigFaults.Fault;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Reads YAML into a tree in which every scalar is its text, as it was written, or null: types are
 * decided by the key that asks, since a variable may stand anywhere. Keys that come twice are
 * faults.
 */
final class YamlTree {
  private static final String NO_ALIAS = "the value itself";

  private final YAMLParser parser;
  private final List<Fault> faults;

  private YamlTree(YAMLParser parser, List<Fault> faults) {
    this.parser = parser;
    this.faults = faults;
  }

  /** The root; an empty mapping when the text holds nothing or is not YAML (a fault then). */
  static JsonNode read(String text, List<Fault> faults) {
    try (YAMLParser parser = new YAMLFactory().createParser(text)) {
      YamlTree tree = new YamlTree(parser, faults);
      JsonNode root =
          parser.nextToken() == null ? JsonNodeFactory.instance.objectNode() : tree.node("");
      if (parser.nextToken() != null) {
        faults.add(new Fault("file", "holds more than one YAML document", "one document"));
      }
      return root;
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      faults.add(new Fault("line " + line, "is not YAML: " + reason(e), "valid YAML"));
    } catch (IOException e) {
      throw new AssertionError("reading a string", e);
    }
    return JsonNodeFactory.instance.objectNode();
  }

  /** The parser's message without the lines of the file that it quotes: they may hold secrets. */
  private static String reason(JsonProcessingException e) {
    String message = e.getOriginalMessage() == null ? "" : e.getOriginalMessage();
    return message
        .lines()
        .filter(line -> !line.isBlank() && !Character.isWhitespace(line.charAt(0)))
        .collect(Collectors.joining(", "));
  }

  private JsonNode node(String path) throws IOException {
    if (parser.isCurrentAlias()) {
      faults.add(new Fault(path, "is an alias (*" + parser.getText() + ")", NO_ALIAS));
      return NullNode.getInstance();
    }
    JsonToken token = parser.currentToken();
    if (token == JsonToken.START_OBJECT) {
      return object(path);
    }
    if (token == JsonToken.START_ARRAY) {
      return array(path);
    }
    return token == JsonToken.VALUE_NULL ? NullNode.getInstance() : new TextNode(parser.getText());
  }

  private ObjectNode object(String path) throws IOException {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String key = parser.currentName();
      String keyPath = path.isEmpty() ? key : path + "." + key;
      int line = parser.currentTokenLocation().getLineNr();
      parser.nextToken();
      JsonNode value = node(keyPath);
      if (object.has(key)) {
        faults.add(new Fault(keyPath, "is there twice (again in line " + line + ")", "once"));
      } else {
        object.set(key, value);
      }
    }
    return object;
  }

  private ArrayNode array(String path) throws IOException {
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(node(path + "[" + array.size() + "]"));
    }
    return array;
  }
}
