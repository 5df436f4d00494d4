package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseUriTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "postgresql://localhost:5432/postgres | localhost | 5432 | postgres",
        "postgres://u:p@db.example/app | db.example | 5432 | app",
        "postgresql://u@[::1]:6000/app | ::1 | 6000 | app",
        "postgresql:///app | localhost | 5432 | app",
        "postgresql://u@h/?dbname=other | h | 5432 | other",
      })
  void readsHostPortAndDatabase(String uri, String host, int port, String database) {
    DatabaseUri read = DatabaseUri.parse(uri).get(0);
    assertThat(read.address()).isEqualTo(new DatabaseUri.Address(host, port));
    assertThat(read.credentials().database()).isEqualTo(database);
  }

  @Test
  void decodesCredentials() {
    DatabaseUri.Credentials read =
        DatabaseUri.parse("postgresql://a%40b:p%3A%2F+%25@h/d").get(0).credentials();
    assertThat(read.user()).isEqualTo("a@b");
    assertThat(read.password()).isEqualTo("p:/+%");
  }

  @Test
  void readsSeveralHostsOfOneUri() {
    List<DatabaseUri> read = DatabaseUri.parse("postgresql://u:p@h1,h2:5433/d");
    assertThat(read).extracting(DatabaseUri::toString).containsExactly("h1:5432/d", "h2:5433/d");
  }

  @Test
  void readsParameters() {
    DatabaseUri read =
        DatabaseUri.parse(
                "postgresql://h/d?sslmode=verify-full&sslrootcert=/etc/ca.pem&sslcert=c&sslkey=k"
                    + "&connect_timeout=2&pgbouncer=true&target_session_attrs=read-write"
                    + "&application_name=x")
            .get(0);
    assertThat(read.ssl()).isEqualTo(new DatabaseUri.Ssl("verify-full", "/etc/ca.pem", "c", "k"));
    assertThat(read.session().connectTimeout()).isEqualTo(Duration.ofSeconds(2));
    assertThat(read.session().pooler()).isTrue();
    assertThat(read.session().properties()).containsOnlyKeys("application_name");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mysql://u:secret@h/d",
        "postgresql://u:secret@h:99999/d",
        "postgresql://u:secret@h/d?sslmode=sometimes",
        "postgresql://u:secret@h/d?ssl_mode=require",
        "postgresql://u:secret@h/d?connect_timeout=0",
        "postgresql://u:secret@h1,,h2/d",
        "postgresql://u:secret%zz@h/d",
      })
  void refusesWhatItCannotReadWithoutShowingThePassword(String uri) {
    assertThatThrownBy(() -> DatabaseUri.parse(uri))
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.CONFIGURATION))
        .hasMessageNotContaining("secret");
  }

  @Test
  void neverShowsThePassword() {
    assertThat(DatabaseUri.parse("postgresql://u:secret@h/d").get(0).toString())
        .doesNotContain("secret");
    assertThat(DatabaseUri.parse("postgresql://u:secret@h/d").get(0).credentials().toString())
        .doesNotContain("secret");
  }
}
