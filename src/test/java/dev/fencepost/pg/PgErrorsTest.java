package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.pgclient.PgException;
import java.net.ConnectException;
import java.sql.SQLException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PgErrorsTest {

  @ParameterizedTest
  @CsvSource({
    "25006, DATABASE_READ_ONLY",
    "28P01, DATABASE_AUTHENTICATION",
    "28000, DATABASE_AUTHENTICATION",
    "3D000, DATABASE_AUTHENTICATION",
    "42501, DATABASE_RIGHTS",
    "3F000, SCHEMA_MISSING",
    "42P01, SCHEMA_MISSING",
    "40001, DATABASE_CONFLICT",
    "40P01, DATABASE_CONFLICT",
    "55P03, DATABASE_CONFLICT",
    "57P01, DATABASE_UNREACHABLE",
    "57P03, DATABASE_UNREACHABLE",
    "53300, DATABASE_UNREACHABLE",
    "53100, DATABASE_UNREACHABLE",
    "53200, DATABASE_UNREACHABLE",
    "58030, DATABASE_UNREACHABLE",
    "08006, DATABASE_UNREACHABLE",
    "57014, TIMEOUT",
    "23505, DATABASE_REFUSED",
    "42601, DATABASE_REFUSED",
  })
  void readsTheSqlState(String state, FailureKind kind) {
    PgException fromClient = new PgException("some text", "ERROR", state, null);
    SQLException fromJdbc = new SQLException("some text", state);
    assertThat(PgErrors.translate(fromClient).kind()).isEqualTo(kind);
    assertThat(PgErrors.translate(new IllegalStateException(fromJdbc)).kind()).isEqualTo(kind);
  }

  @Test
  void aMissingSchemaNamesTheCommandThatCreatesIt() {
    PgException missing =
        new PgException("relation \"fencepost.outbox\" does not exist", "ERROR", "42P01", null);
    assertThat(PgErrors.translate(missing))
        .hasMessage(
            "relation \"fencepost.outbox\" does not exist:"
                + " run `fencepost migrate -c FILE` to create the schema");
  }

  @Test
  void aFullDiskIsNoConnectionThatCouldNotBeMade() {
    assertThat(PgErrors.translate(new PgException("could not extend file", "ERROR", "53100", null)))
        .hasMessage("the database cannot do its work now: could not extend file (SQLSTATE 53100)");
  }

  @Test
  void namesTheHostThatIsOutOfReach() {
    assertThat(PgErrors.translate(new ConnectException("Connection refused"), "db:5432/app"))
        .hasMessage("cannot reach the database at db:5432/app: Connection refused")
        .extracting(FencepostException::kind)
        .isEqualTo(FailureKind.DATABASE_UNREACHABLE);
  }

  @Test
  void aTimeoutIsNoRefusal() {
    assertThat(PgErrors.translate(new TimeoutException()).kind()).isEqualTo(FailureKind.TIMEOUT);
  }

  @Test
  void failuresOfOthersAreNotTheDatabases() {
    assertThat(PgErrors.isDatabase(new IllegalArgumentException("theirs"))).isFalse();
    assertThat(PgErrors.translate(new IllegalArgumentException("theirs")).kind())
        .isEqualTo(FailureKind.INTERNAL);
  }
}
