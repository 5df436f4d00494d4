package dev.fencepost.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** {@code conf/fencepost.yaml} is what people start from: whole, true and loadable. */
class ExampleConfigTest {
  private static final Path EXAMPLE = Path.of("conf", "fencepost.yaml");

  /** With the activity whose class is to be the reader's own. */
  private static String whole() throws Exception {
    return Files.readString(EXAMPLE)
        .replaceAll("(?m)^      #(order.render:|  kind: pure|  handler: )", "      $1");
  }

  @Test
  void everyKeyThatCanBeReadIsInTheExample() throws Exception {
    String yaml = whole();
    Set<String> written = new LinkedHashSet<>();
    collect(YamlTree.read(yaml, new ArrayList<>()), "", "", written);

    Set<String> readable = ConfigLoader.keys(yaml, Map.of());

    assertThat(readable).hasSizeGreaterThan(70);
    assertThat(written).containsExactlyInAnyOrderElementsOf(readable);
  }

  @Test
  void itsValuesAreTheDefaults() throws Exception {
    FencepostConfig example = ConfigLoader.parse(whole(), Map.of());
    FencepostConfig defaults =
        ConfigLoader.parse(
            """
            queues:
              notifications:
                queue: app.notifications
                declare: {bind: [{exchange: orders, routing-key: "order.#"}]}
                activities:
                  order.placed:
                    kind: idempotent
                    handler:
                      http:
                        url: "http://localhost:8080/notify"
                        probe: {url: "http://localhost:8080/notify/{event_id}"}
                    concurrency: 32
                    progress-timeout: 10s
                    retry-budget: {}
                  order.audit:
                    kind: effect
                    handler:
                      sql: insert into audit(event_id, doc) values (:event_id, :payload::jsonb)
                  order.render: {kind: pure, handler: {class: com.example.RenderInvoice}}
            """,
            Map.of());

    assertThat(example).isEqualTo(defaults);
  }

  @Test
  void anEmptyFileIsTheExampleWithoutQueues() {
    FencepostConfig example = ConfigLoader.load(EXAMPLE, Map.of());
    FencepostConfig empty = ConfigLoader.parse("", Map.of());

    assertThat(empty.database()).isEqualTo(example.database());
    assertThat(empty.broker()).isEqualTo(example.broker());
    assertThat(empty.relay()).isEqualTo(example.relay());
    assertThat(empty.worker()).isEqualTo(example.worker());
    assertThat(empty.operation()).isEqualTo(example.operation());
    assertThat(empty.queues()).isEmpty();
  }

  @Test
  void everyKeyIsExplained() throws Exception {
    List<String> lines = Files.readAllLines(EXAMPLE);
    List<String> unexplained = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      boolean key = !line.isEmpty() && !line.startsWith("#") && !line.endsWith(":");
      boolean example = line.startsWith("kind: effect") || line.startsWith("kind: pure");
      if (key && !example && !lines.get(i - 1).strip().startsWith("#")) {
        unexplained.add(line);
      }
    }
    assertThat(unexplained).isEmpty();
  }

  private static void collect(JsonNode node, String path, String parent, Set<String> keys) {
    boolean names = path.equals("queues") || parent.equals("activities");
    Iterator<Map.Entry<String, JsonNode>> fields = node.fields();
    while (fields.hasNext()) {
      Map.Entry<String, JsonNode> field = fields.next();
      String key = names ? "*" : field.getKey();
      String keyPath = path.isEmpty() ? key : path + "." + key;
      if (!names) {
        keys.add(keyPath);
      }
      if (field.getValue().isArray()) {
        field.getValue().forEach(one -> collect(one, keyPath + "[]", "", keys));
      } else {
        collect(field.getValue(), keyPath, names ? "" : key, keys);
      }
    }
  }
}
