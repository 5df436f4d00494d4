package dev.fencepost.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table {@code config/bad-inputs.yaml}: each wrong input with the exact line it must give. */
class BadInputsTest {
  private static final String SOUND = "kind: pure\nhandler: {class: a.B}\n";

  static Stream<JsonNode> table() throws Exception {
    try (InputStream in = BadInputsTest.class.getResourceAsStream("/config/bad-inputs.yaml")) {
      return StreamSupport.stream(new YAMLMapper().readTree(in).spliterator(), false);
    }
  }

  @ParameterizedTest
  @MethodSource("table")
  void isRefusedWithThisLine(JsonNode row) {
    ConfigFaults refused =
        catchThrowableOfType(ConfigFaults.class, () -> ConfigLoader.parse(file(row), Map.of()));

    assertThat(refused).as("refused at all").isNotNull();
    List<String> lines = refused.faults().stream().map(Object::toString).toList();
    assertThat(lines).contains(row.get("fault").textValue());
    assertThat(lines).hasSize(1 + row.path("also").asInt(0));
  }

  private static String file(JsonNode row) {
    if (row.has("top")) {
      return row.get("top").textValue();
    }
    String inQueue = row.path("queue").asText("");
    String activity = row.path("activity").asText(SOUND + row.path("sound").asText(""));
    return "queues:\n  q:\n    queue: q\n"
        + inQueue.indent(4)
        + "    activities:\n      t:\n"
        + activity.indent(8);
  }
}
