package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.FailureClass;
import dev.fencepost.model.RunEvent;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class FailureClassesTest {
  private static final List<Map<String, String>> ROWS = SpecCsv.rows("failure-classes.csv");

  @Test
  void classifiesAsTheWholeTableSays() {
    assertThat(ROWS).hasSize(100);
    assertThat(ROWS)
        .allSatisfy(
            row ->
                assertThat(
                        FailureClasses.classify(
                                ActivityKind.ofWire(row.get("kind")),
                                RunEvent.ofWire(row.get("event")))
                            .wire())
                    .isEqualTo(row.get("class")));
  }

  @Test
  void refusesWhatTheTableDoesNotHave() {
    Set<String> known = new HashSet<>();
    ROWS.forEach(row -> known.add(row.get("kind") + " " + row.get("event")));
    for (ActivityKind kind : ActivityKind.values()) {
      for (RunEvent event : RunEvent.values()) {
        if (!known.contains(kind.wire() + " " + event.wire())) {
          assertThatThrownBy(() -> FailureClasses.classify(kind, event))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(event.wire());
        }
      }
    }
  }

  @Property
  void everyHttpAnswerHasAnEventThatWaitsOnlyWhereTheTableSaysSo(@ForAll int status) {
    RunEvent event = FailureClasses.ofHttpStatus(status);
    FailureClass failure = FailureClasses.classify(ActivityKind.IRREVERSIBLE, event);
    if (status >= 500) {
      assertThat(failure).isEqualTo(FailureClass.UNKNOWN);
    } else if (status != 408 && status != 425 && status != 429) {
      assertThat(failure).isEqualTo(FailureClass.PERMANENT);
    }
  }

  @Test
  void namesTheEventOfEachStatusInTheTable() {
    for (RunEvent event : RunEvent.values()) {
      if (event.wire().startsWith("http_")) {
        int status = Integer.parseInt(event.wire().substring("http_".length()));
        assertThat(FailureClasses.ofHttpStatus(status)).isEqualTo(event);
      }
    }
  }

  @Test
  void sortsTheDatabasesRefusalsByClass() {
    for (String passing : List.of("08006", "40001", "40P01", "53300", "55P03", "57014")) {
      assertThat(FailureClasses.ofSqlState(passing)).isEqualTo(RunEvent.HANDLER_TRANSIENT_FAILURE);
    }
    for (String lasting : List.of("23505", "22P02", "42P01", "P0001", "", "4000")) {
      assertThat(FailureClasses.ofSqlState(lasting)).isEqualTo(RunEvent.HANDLER_PERMANENT_FAILURE);
    }
  }
}
