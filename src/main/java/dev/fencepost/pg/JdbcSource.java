package dev.fencepost.pg;

import dev.fencepost.model.FencepostException;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** JDBC connections to the writable one of {@code database.uris}, for migrations. */
final class JdbcSource {

  private static final String WRITABLE =
      "select not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean)";

  private final List<DatabaseUri> hosts;

  JdbcSource(List<String> uris) {
    this.hosts = uris.stream().flatMap(uri -> DatabaseUri.parse(uri).stream()).toList();
  }

  /**
   * @throws FencepostException when no host can be used; it names the last one
   */
  Connection open() {
    FencepostException last = null;
    for (DatabaseUri host : hosts) {
      try {
        Connection connection = DriverManager.getConnection(url(host), properties(host));
        if (hosts.size() == 1 || writable(connection)) {
          return connection;
        }
        connection.close();
      } catch (SQLException e) {
        last = PgErrors.translate(e, host.toString());
      }
    }
    if (last != null) {
      throw last;
    }
    throw new FencepostException(
        dev.fencepost.model.FailureKind.DATABASE_READ_ONLY,
        "none of " + hosts.size() + " databases is writable");
  }

  /** Whether a host is a pooler, behind which no session keeps a lock. */
  boolean pooled() {
    return hosts.stream().anyMatch(host -> host.session().pooler());
  }

  /** Where Flyway takes its connections: on the host that {@code opened} is on. */
  DataSource dataSource(Connection opened) throws SQLException {
    String url = opened.getMetaData().getURL();
    for (DatabaseUri host : hosts) {
      if (url(host).equals(url)) {
        return new Source(url, properties(host));
      }
    }
    throw new IllegalStateException("a connection of another source");
  }

  private static boolean writable(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(WRITABLE)) {
      return rows.next() && rows.getBoolean(1);
    }
  }

  private static String url(DatabaseUri host) {
    return "jdbc:postgresql://"
        + host.address()
        + "/"
        + java.net.URLEncoder.encode(
            host.credentials().database(), java.nio.charset.StandardCharsets.UTF_8);
  }

  private static Properties properties(DatabaseUri host) {
    Properties properties = new Properties();
    properties.setProperty("user", host.credentials().user());
    properties.setProperty("password", host.credentials().password());
    properties.setProperty("ApplicationName", "fencepost migrate");
    long seconds = host.session().connectTimeout().toSeconds();
    properties.setProperty("connectTimeout", Long.toString(seconds));
    properties.setProperty("loginTimeout", Long.toString(seconds));
    properties.setProperty("prepareThreshold", "0"); // behind a pooler a session keeps none
    set(properties, "sslmode", host.ssl().mode());
    set(properties, "sslrootcert", host.ssl().rootCertificate());
    set(properties, "sslcert", host.ssl().certificate());
    set(properties, "sslkey", host.ssl().key());
    set(properties, "options", host.session().properties().get("options"));
    return properties;
  }

  private static void set(Properties properties, String name, @Nullable String value) {
    if (value != null) {
      properties.setProperty(name, value);
    }
  }

  /** The least of a DataSource that Flyway needs. */
  private record Source(String url, Properties properties) implements DataSource {
    @Override
    public Connection getConnection() throws SQLException {
      return DriverManager.getConnection(url, properties);
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return DriverManager.getConnection(url, user, password);
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
      return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
      return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
      return false;
    }
  }
}
