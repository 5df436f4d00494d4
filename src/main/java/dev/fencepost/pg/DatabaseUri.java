package dev.fencepost.pg;

import dev.fencepost.config.Loopback;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One host of {@code database.uris}, written as for libpq: {@code
 * postgresql://user:password@host:port/database?sslmode=verify-full&sslrootcert=…}.
 *
 * <p>Parameters: {@code sslmode}, {@code sslrootcert}, {@code sslcert}, {@code sslkey}, {@code
 * connect_timeout} (seconds), {@code application_name}, {@code options}, {@code user}, {@code
 * password}, {@code dbname}; {@code pgbouncer=true} where a transaction pooler stands in between
 * (no prepared statements are kept). {@code target_session_attrs} is accepted: the writable host is
 * always looked for.
 */
record DatabaseUri(Address address, Credentials credentials, Ssl ssl, Session session) {

  /** What to do where a session does not keep what is its own. */
  static final String POOLER =
      "where a pooler in transaction mode stands in between, append ?pgbouncer=true to the URI in"
          + " database.uris";

  private static final Pattern SHAPE =
      Pattern.compile(
          "postgres(?:ql)?://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?"
              + "(?<hosts>[^/?]*)(?:/(?<database>[^?]*))?(?:\\?(?<parameters>.*))?");
  private static final Pattern HOST =
      Pattern.compile("(?<host>\\[[0-9a-fA-F:.]+]|[^:\\[\\]]+)(?::(?<port>[0-9]{1,5}))?");
  private static final String WRONG = "database.uris: wrong connection URI: ";
  private static final int DEFAULT_PORT = 5432;
  private static final String DEFAULT_CONNECT_TIMEOUT = "5";

  record Address(String host, int port) {
    @Override
    public String toString() {
      return host.contains(":") ? "[" + host + "]:" + port : host + ":" + port;
    }

    boolean loopback() {
      return Loopback.is(host);
    }
  }

  /** Its text form never shows the password. */
  record Credentials(String user, String password, String database) {
    @Override
    public String toString() {
      return user + "@" + database;
    }
  }

  /**
   * @param mode as libpq names it; null: encrypted where the server offers it, except on loopback
   */
  record Ssl(
      @Nullable String mode,
      @Nullable String rootCertificate,
      @Nullable String certificate,
      @Nullable String key) {}

  record Session(Duration connectTimeout, boolean pooler, Map<String, String> properties) {}

  /**
   * Reads one URI; a comma between hosts makes several.
   *
   * @throws FencepostException of kind CONFIGURATION; its text holds no password
   */
  static List<DatabaseUri> parse(String uri) {
    Matcher shape = SHAPE.matcher(uri);
    if (!shape.matches()) {
      throw wrong("expected postgresql://user:password@host:port/database");
    }
    Map<String, String> parameters = parameters(shape.group("parameters"));
    String user =
        parameters.getOrDefault(
            "user", orElse(shape.group("user"), System.getProperty("user.name", "postgres")));
    Credentials credentials =
        new Credentials(
            user,
            parameters.getOrDefault("password", orElse(shape.group("password"), "")),
            parameters.getOrDefault("dbname", orElse(shape.group("database"), user)));
    Ssl ssl =
        new Ssl(
            parameters.get("sslmode"),
            parameters.get("sslrootcert"),
            parameters.get("sslcert"),
            parameters.get("sslkey"));
    Session session = session(parameters);
    List<DatabaseUri> hosts = new ArrayList<>();
    for (String host : orElse(shape.group("hosts"), "localhost").split(",", -1)) {
      hosts.add(new DatabaseUri(address(host), credentials, ssl, session));
    }
    return List.copyOf(hosts);
  }

  /** What is wrong with a URI, without a password; empty for one that can be used. */
  static Optional<String> fault(String uri) {
    try {
      parse(uri);
      return Optional.empty();
    } catch (FencepostException e) {
      return Optional.of(String.valueOf(e.getMessage()).substring(WRONG.length()));
    }
  }

  /** With further settings of the session, which a pooler would refuse. */
  DatabaseUri with(Map<String, String> settings) {
    if (settings.isEmpty() || session.pooler()) {
      return this;
    }
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.putAll(session.properties());
    return new DatabaseUri(
        address, credentials, ssl, new Session(session.connectTimeout(), false, all));
  }

  @Override
  public String toString() {
    return address + "/" + credentials.database();
  }

  private static Address address(String text) {
    Matcher host = HOST.matcher(text);
    if (!host.matches()) {
      // A password in which an @ is not escaped reaches into it.
      throw wrong("\"" + text.substring(text.lastIndexOf('@') + 1) + "\" is no host");
    }
    String port = host.group("port");
    int number = port == null ? DEFAULT_PORT : Integer.parseInt(port);
    if (number < 1 || number > 65535) {
      throw wrong("port " + port + " is not within 1 to 65535");
    }
    return new Address(host.group("host").replaceAll("[\\[\\]]", ""), number);
  }

  private static Session session(Map<String, String> parameters) {
    Map<String, String> properties = new LinkedHashMap<>();
    for (String passed : List.of("application_name", "options", "search_path")) {
      String value = parameters.get(passed);
      if (value != null) {
        properties.put(passed, value);
      }
    }
    String timeout = parameters.getOrDefault("connect_timeout", DEFAULT_CONNECT_TIMEOUT);
    if (!timeout.matches("[1-9][0-9]{0,3}")) {
      throw wrong("connect_timeout=" + timeout + " is no number of seconds from 1 to 9999");
    }
    return new Session(
        Duration.ofSeconds(Long.parseLong(timeout)),
        Boolean.parseBoolean(parameters.getOrDefault("pgbouncer", "false")),
        Map.copyOf(properties));
  }

  private static Map<String, String> parameters(@Nullable String text) {
    Map<String, String> parameters = new LinkedHashMap<>();
    if (text == null || text.isEmpty()) {
      return parameters;
    }
    for (String pair : text.split("&", -1)) {
      int equals = pair.indexOf('=');
      String name = (equals < 0 ? pair : pair.substring(0, equals)).toLowerCase(Locale.ROOT);
      if (equals < 0 || !KNOWN.contains(name)) {
        throw wrong("parameter \"" + name + "\" is not one of " + String.join(", ", KNOWN));
      }
      parameters.put(name, decode(pair.substring(equals + 1)));
    }
    String mode = parameters.get("sslmode");
    if (mode != null && !SSL_MODES.contains(mode)) {
      throw wrong("sslmode=" + mode + " is not one of " + String.join(", ", SSL_MODES));
    }
    return parameters;
  }

  private static final List<String> SSL_MODES =
      List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

  private static final List<String> KNOWN =
      List.of(
          "sslmode",
          "sslrootcert",
          "sslcert",
          "sslkey",
          "connect_timeout",
          "application_name",
          "options",
          "search_path",
          "user",
          "password",
          "dbname",
          "pgbouncer",
          "target_session_attrs");

  private static String orElse(@Nullable String encoded, String fallback) {
    return encoded == null || encoded.isEmpty() ? fallback : decode(encoded);
  }

  private static String decode(String encoded) {
    try {
      // "+" is itself in a connection URI; only the percent form is an escape.
      return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw wrong("a percent escape is broken");
    }
  }

  private static FencepostException wrong(String what) {
    return new FencepostException(FailureKind.CONFIGURATION, WRONG + what);
  }
}
