package dev.fencepost.handlers;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Text from messages as HTTP header values: any text, without two texts becoming one. */
final class HeaderText {
  private HeaderText() {}

  /**
   * Visible ASCII stays as it is; every other character, and {@code %}, is percent-encoded as
   * UTF-8. Ids and keys in use are of visible ASCII.
   */
  static String of(String text) {
    boolean plain = text.chars().allMatch(HeaderText::isPlain);
    if (plain) {
      return text;
    }
    StringBuilder out = new StringBuilder();
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (isPlain(b)) {
        out.append((char) b);
      } else {
        out.append(String.format(Locale.ROOT, "%%%02X", b & 0xff));
      }
    }
    return out.toString();
  }

  /** Visible ASCII and inner spaces: a header value as it is. */
  static boolean isValue(String text) {
    return !text.isEmpty()
        && text.strip().length() == text.length()
        && text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
  }

  private static boolean isPlain(int c) {
    return c > 0x20 && c < 0x7f && c != '%';
  }
}
