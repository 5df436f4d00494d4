package dev.fencepost.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.fencepost.config.SqlTemplate.Parameter;
import dev.fencepost.config.SqlTemplate.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlTemplateTest {

  @Test
  void namesBecomeNumbersInOrderAndOnceEach() {
    SqlTemplate sql =
        SqlTemplate.parse(
            "insert into t values (:payload::jsonb, :event_id, :payload_bytes, :headers, :event_id)");

    assertThat(sql.problems()).isEmpty();
    assertThat(sql.statement())
        .isEqualTo(
            "insert into t values (($1::text)::jsonb, ($2::text), ($3::bytea),"
                + " ($4::text::jsonb), ($2::text))");
    assertThat(sql.parameters())
        .containsExactly(
            Parameter.PAYLOAD, Parameter.EVENT_ID, Parameter.PAYLOAD_BYTES, Parameter.HEADERS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select 'a :nope b'",
        "select 'it''s :nope'",
        "select E'it\\'s :nope'",
        "select e'\\\\', ':nope'",
        "select 'backslash \\', ':nope'",
        "select \":nope\" from t",
        "select \"a\"\":nope\" from t",
        "select $$ :nope $$",
        "select $tag$ :nope $$ :nope $tag$",
        "select 1 -- :nope",
        "select 1 /* :nope /* nested :nope */ :nope */",
        "select now()::date, '1'::int",
        "select a[1:nope] from t",
        "select a[x:nope] from t",
        "select f(a := 1)",
        "select a$b$c from t",
        "select '12:30:15'::time;",
        "select 1; -- the end",
        "with x as (select 1) select * from x",
        "select U&'d\\0061t\\+000061 :nope'"
      })
  void quotedTextCastsAndCommentsAreLeftAlone(String statement) {
    SqlTemplate sql = SqlTemplate.parse(statement);

    assertThat(sql.problems()).isEmpty();
    assertThat(sql.parameters()).isEmpty();
    assertThat(sql.statement()).isEqualTo(statement);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "select array[:key] | select array[($1::text)]",
        "select a[1:2], :key | select a[1:2], ($1::text)",
        "select 'x':key | select 'x'($1::text)",
        "select x=:key | select x=($1::text)",
        "select :key::text | select ($1::text)::text",
        "select 'E''':key | select 'E'''($1::text)",
      })
  void parametersNextToEverything(String statement, String expected) {
    assertThat(SqlTemplate.parse(statement).statement()).isEqualTo(expected);
  }

  @Test
  void unknownNamesAreToldWithTheirPlaceAndTheNearOne() {
    assertThat(SqlTemplate.parse("insert into t\nvalues (:event, :paylod)").problems())
        .extracting(Problem::line, Problem::column, Problem::what)
        .containsExactly(
            tuple(2, 9, "unknown parameter :event, did you mean event_id?"),
            tuple(2, 17, "unknown parameter :paylod, did you mean payload?"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | holds no statement",
        "-- nothing | holds no statement",
        "select $1 | $1 is a numbered parameter",
        "select 1; select 2 | holds more than one statement",
        "commit | commit cannot run in the receipt's transaction",
        "/* x */ RollBack to s | rollback cannot run in the receipt's transaction",
        "select \"a | has a \" that is never closed",
        "select $x$ a $y$ | has a $x$ that is never closed",
        "select /* /* */ | has a /* that is never closed",
      })
  void whatCannotBePrepared(String statement, String problem) {
    assertThat(SqlTemplate.parse(statement).problems())
        .extracting(Problem::what)
        .containsExactly(problem);
  }
}
