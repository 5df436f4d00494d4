package dev.fencepost.rabbit;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * {@code amqp[s]://user:password@host:port/vhost?parameter=…}, parts percent-encoded; an empty
 * virtual host is {@code /}. Parameters are those of RabbitMQ's own URIs.
 */
record BrokerUri(Endpoint endpoint, Login login, boolean tls, Map<String, String> parameters) {

  record Endpoint(String host, int port) {
    @Override
    public String toString() {
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
  }

  record Login(String user, String password, String vhost) {
    /** Never shows the password. */
    @Override
    public String toString() {
      return "user '" + user + "', vhost '" + vhost + "'";
    }
  }

  private static final String WRONG = "broker URI: ";
  private static final Set<String> KNOWN =
      Set.of(
          "heartbeat",
          "connection_timeout",
          "auth_mechanism",
          "cacertfile",
          "certfile",
          "keyfile",
          "verify",
          "server_name_indication");

  /**
   * @throws FencepostException of kind CONFIGURATION; the message names the fault and never the
   *     password
   */
  static BrokerUri parse(String text) {
    try {
      URI uri = new URI(text.strip());
      boolean tls = "amqps".equalsIgnoreCase(uri.getScheme());
      if (!tls && !"amqp".equalsIgnoreCase(uri.getScheme())) {
        throw fault("scheme is not amqp or amqps");
      }
      String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
      int at = authority.lastIndexOf('@');
      String[] user = (at < 0 ? "guest:guest" : authority.substring(0, at)).split(":", 2);
      Endpoint endpoint = endpoint(authority.substring(at + 1), tls ? 5671 : 5672);
      Login login = new Login(decode(user[0]), user.length > 1 ? decode(user[1]) : "", vhost(uri));
      return new BrokerUri(endpoint, login, tls, parameters(uri.getRawQuery()));
    } catch (URISyntaxException e) {
      throw fault(e.getReason() + " at index " + e.getIndex());
    }
  }

  /** What is wrong with a URI, without a password; empty for one that can be used. */
  static Optional<String> faultOf(String text) {
    try {
      parse(text);
      return Optional.empty();
    } catch (FencepostException e) {
      return Optional.of(String.valueOf(e.getMessage()).substring(WRONG.length()));
    }
  }

  @Nullable String parameter(String name) {
    return parameters.get(name);
  }

  /** A parameter that is a whole number. */
  int parameter(String name, int otherwise) {
    String value = parameters.get(name);
    return value == null ? otherwise : Integer.parseInt(value);
  }

  @Override
  public String toString() {
    return (tls ? "amqps://" : "amqp://") + endpoint + " (" + login + ")";
  }

  private static Endpoint endpoint(String text, int defaultPort) {
    int colon = text.lastIndexOf(':');
    boolean hasPort = colon > text.lastIndexOf(']');
    String host = hasPort ? text.substring(0, colon) : text;
    if (host.startsWith("[")) {
      host = host.substring(1, host.indexOf(']'));
    }
    String port = hasPort ? text.substring(colon + 1) : "";
    if (host.isEmpty()) {
      host = "localhost";
    }
    if (port.isEmpty()) {
      return new Endpoint(decode(host), defaultPort);
    }
    return new Endpoint(decode(host), number("port", port, 65_535));
  }

  private static String vhost(URI uri) {
    String path = uri.getRawPath() == null ? "" : uri.getRawPath();
    if (path.indexOf('/', 1) > 0) {
      throw fault("the virtual host has more than one segment; write / inside it as %2F");
    }
    return path.length() <= 1 ? "/" : decode(path.substring(1));
  }

  private static Map<String, String> parameters(@Nullable String query) {
    Map<String, String> parameters = new TreeMap<>();
    if (query == null || query.isEmpty()) {
      return parameters;
    }
    for (String pair : query.split("&")) {
      String[] parts = pair.split("=", 2);
      String name = decode(parts[0]);
      String value = parts.length > 1 ? decode(parts[1]) : "";
      if (!KNOWN.contains(name)) {
        throw fault(
            "unknown parameter '" + name + "', known are " + new java.util.TreeSet<>(KNOWN));
      }
      if (name.equals("heartbeat") || name.equals("connection_timeout")) {
        number(name, value, 3_600_000);
      }
      if (name.equals("verify") && !Set.of("verify_peer", "verify_none").contains(value)) {
        throw fault("verify is verify_peer or verify_none");
      }
      parameters.put(name, value);
    }
    return parameters;
  }

  private static int number(String name, String value, int max) {
    try {
      int number = Integer.parseInt(value);
      if (number >= 0 && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw fault(name + " is not a number from 0 to " + max + ": '" + value + "'");
  }

  private static String decode(String part) {
    try {
      // In a URI's authority and path a plus is a plus.
      return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw fault("broken percent-encoding");
    }
  }

  private static FencepostException fault(String reason) {
    return new FencepostException(FailureKind.CONFIGURATION, WRONG + reason);
  }
}
