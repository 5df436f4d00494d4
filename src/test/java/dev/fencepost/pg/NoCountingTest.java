package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** R26: nothing that runs on a timer counts rows. */
class NoCountingTest {

  /** Run when a person asks, and bounded. */
  private static final Set<String> ASKED_FOR = Set.of("ReplaySql", "OperationsSql", "OperatorSql");

  @Test
  void noStatementOfATimerCountsRows() throws Exception {
    List<String> seen = new ArrayList<>();
    for (JavaClass each :
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.fencepost.pg")) {
      if (!each.getSimpleName().endsWith("Sql") || ASKED_FOR.contains(each.getSimpleName())) {
        continue;
      }
      for (Field field : each.reflect().getDeclaredFields()) {
        if (field.getType() == String.class) {
          field.setAccessible(true);
          String sql = String.valueOf(field.get(null)).toLowerCase(Locale.ROOT);
          assertThat(sql).as(each.getSimpleName() + "." + field.getName()).doesNotContain("count(");
          seen.add(each.getSimpleName());
        }
      }
    }
    assertThat(seen).contains("OutboxSql", "LaneSql", "RelayUpkeepSql", "ClaimSql", "UpkeepSql");
  }
}
