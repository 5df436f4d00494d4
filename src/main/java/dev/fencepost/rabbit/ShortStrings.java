package dev.fencepost.rabbit;

import org.jspecify.annotations.Nullable;

/** AMQP's short strings: at most 255 bytes of UTF-8. */
final class ShortStrings {

  static final int MAX_BYTES = 255;

  private ShortStrings() {}

  /** The length in UTF-8, without encoding it. */
  static int bytes(String text) {
    int bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : Character.isSurrogate(c) ? 2 : 3;
    }
    return bytes;
  }

  /** Refuses what does not fit; returns the length on the wire, 0 for null. */
  static int check(String what, @Nullable String text) throws RefusedRow {
    if (text == null) {
      return 0;
    }
    int bytes = bytes(text);
    if (bytes > MAX_BYTES) {
      throw RefusedRow.property(what + " is longer than 255 bytes: " + bytes);
    }
    return bytes + 1;
  }
}
