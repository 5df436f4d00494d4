package dev.fencepost.config;

import java.util.regex.Pattern;

/** Makes values showable: no password, no line breaks, no endless text. */
final class Redaction {
  static final String HIDDEN = "***";

  private static final int LONGEST = 120;

  // Greedy to the last @: a password that should have been percent-encoded may hold @ / ? #.
  private static final Pattern USER_INFO = Pattern.compile("(?s)^([a-zA-Z][a-zA-Z0-9+.-]*://).*@");
  private static final Pattern SECRET_PARAMETER =
      Pattern.compile("(?i)([?&;][^=&;]*(?:password|secret|token|key)[^=&;]*=)[^&;]*");

  private Redaction() {}

  /** A URI without user, password and secret parameters. */
  static String uri(String uri) {
    if (!uri.contains("://")) {
      return uri.contains("@") ? HIDDEN : shown(uri);
    }
    String bare = USER_INFO.matcher(uri).replaceFirst("$1" + HIDDEN + "@");
    return shown(SECRET_PARAMETER.matcher(bare).replaceAll("$1" + HIDDEN));
  }

  /** Any value, on one line and bounded; whatever looks like a URI is redacted as one. */
  static String value(String text) {
    return text.contains("://") ? uri(text) : shown(text);
  }

  static String secret(boolean present) {
    return present ? HIDDEN : "(none)";
  }

  private static String shown(String text) {
    StringBuilder line = new StringBuilder();
    text.codePoints()
        .limit(LONGEST)
        .forEach(
            c -> {
              if (c == '\n') {
                line.append("\\n");
              } else if (Character.isISOControl(c)) {
                line.append(String.format("\\u%04x", c));
              } else {
                line.appendCodePoint(c);
              }
            });
    String head = line.toString();
    boolean cut = text.codePointCount(0, text.length()) > LONGEST;
    return cut ? head + "…" : head.isEmpty() ? "''" : head;
  }
}
