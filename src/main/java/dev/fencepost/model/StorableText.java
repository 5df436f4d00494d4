package dev.fencepost.model;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Makes any text storable in PostgreSQL: what it refuses (NUL, lone surrogates) is replaced, and
 * what is too long keeps its head and its tail. Recording a failure must not fail on its content.
 */
public final class StorableText {
  /** What stands for a character that cannot be stored. */
  public static final char REPLACEMENT = '\uFFFD';

  private static final String GAP = " … ";
  private static final int GAP_BYTES = GAP.getBytes(StandardCharsets.UTF_8).length;

  private StorableText() {}

  /**
   * The text, storable and at most {@code maxBytes} long in UTF-8.
   *
   * @param maxBytes at least 16
   * @return null for null
   */
  public static @Nullable String ofNullable(@Nullable String text, int maxBytes) {
    return text == null ? null : of(text, maxBytes);
  }

  /** As {@link #ofNullable}, never null. */
  public static String of(String text, int maxBytes) {
    String clean = clean(text);
    if (clean.length() <= maxBytes / 3 || bytes(clean, 0, clean.length()) <= maxBytes) {
      return clean;
    }
    // Two thirds for the head, which says what failed; the tail says where.
    int room = maxBytes - GAP_BYTES;
    int head = headEnd(clean, room * 2 / 3);
    int tail = tailStart(clean, room - room * 2 / 3);
    return clean.substring(0, head) + GAP + clean.substring(tail);
  }

  private static String clean(String text) {
    StringBuilder out = null;
    int length = text.length();
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      boolean pair =
          Character.isHighSurrogate(c)
              && i + 1 < length
              && Character.isLowSurrogate(text.charAt(i + 1));
      if (pair) {
        i++;
      } else if (c == 0 || Character.isSurrogate(c)) {
        out = out == null ? new StringBuilder(text) : out;
        out.setCharAt(i, REPLACEMENT);
      }
    }
    return out == null ? text : out.toString();
  }

  private static int headEnd(String text, int maxBytes) {
    int end = 0;
    int used = 0;
    while (end < text.length()) {
      int point = text.codePointAt(end);
      used += width(point);
      if (used > maxBytes) {
        break;
      }
      end += Character.charCount(point);
    }
    return end;
  }

  private static int tailStart(String text, int maxBytes) {
    int start = text.length();
    int used = 0;
    while (start > 0) {
      int point = text.codePointBefore(start);
      used += width(point);
      if (used > maxBytes) {
        break;
      }
      start -= Character.charCount(point);
    }
    return start;
  }

  private static int bytes(String text, int from, int to) {
    int bytes = 0;
    for (int i = from; i < to; ) {
      int point = text.codePointAt(i);
      bytes += width(point);
      i += Character.charCount(point);
    }
    return bytes;
  }

  private static int width(int point) {
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
}
