package dev.fencepost.config;

import static dev.fencepost.config.Values.between;

import dev.fencepost.config.FencepostConfig.Admin;
import dev.fencepost.config.FencepostConfig.LogFormat;
import dev.fencepost.config.FencepostConfig.Metrics;
import dev.fencepost.config.FencepostConfig.Operation;
import java.util.regex.Pattern;

/** Reads {@code admin}, {@code metrics}, {@code tracing} and {@code log}. */
final class OperationSections {
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:\\[\\]_-]{1,255}");
  private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]*");

  private OperationSections() {}

  static Operation read(Section root) {
    Admin admin = admin(root.child("admin"));
    Section metrics = root.child("metrics");
    Values values = new Values(metrics);
    Metrics measured =
        new Metrics(
            values.flag("prometheus", true),
            values.flag("jmx", true),
            values.flag("public", false));
    metrics.close();
    Section tracing = root.child("tracing");
    boolean traced = new Values(tracing).flag("enabled", false);
    tracing.close();
    Section log = root.child("log");
    LogFormat format = new Values(log).choice("format", LogFormat.TEXT);
    log.close();
    return new Operation(admin, measured, traced, format);
  }

  private static Admin admin(Section section) {
    Values values = new Values(section);
    String host = values.matching("host", "127.0.0.1", HOST, "an address or a host name");
    int port = values.whole("port", 8_077, between(0, 65_535));
    String token = section.text("token");
    if (token == null && section.sound("token")) {
      token = section.standard("token", "${FENCEPOST_ADMIN_TOKEN:}");
    }
    if (token != null && !TOKEN.matcher(token).matches()) {
      section.fault("token", Redaction.HIDDEN + " cannot be sent in a header", "printable ASCII");
    }
    boolean open = token == null || token.isEmpty();
    if (open && section.sound("host", "token") && !Loopback.is(host)) {
      section.fault(
          "host",
          host + " is not a loopback address, and there is no token",
          "127.0.0.1, ::1 or localhost, or any host once admin.token is set");
    }
    section.close();
    return new Admin(host, port, token == null ? "" : token);
  }
}
