package dev.fencepost.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Collectors;

/** Finds the key that was probably meant. */
final class NearMiss {
  private static final int FARTHEST = 2;

  private NearMiss() {}

  /** {@code ", did you mean x?"}, or nothing when no key is near. */
  static String hint(String key, Collection<String> known) {
    String plain = plain(key);
    return known.stream()
        .filter(k -> near(plain, plain(k)))
        .min(Comparator.<String>comparingInt(k -> distance(plain, plain(k))).thenComparing(k -> k))
        .map(k -> ", did you mean " + k + "?")
        .orElse("");
  }

  static String list(Collection<String> known) {
    return known.stream().sorted().collect(Collectors.joining(", "));
  }

  private static boolean near(String a, String b) {
    boolean cut = Math.min(a.length(), b.length()) > 3 && (a.startsWith(b) || b.startsWith(a));
    return cut || distance(a, b) <= Math.min(FARTHEST, Math.max(1, b.length() / 3));
  }

  private static String plain(String key) {
    return key.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
  }

  /** Levenshtein's: insertions, deletions and replacements of one character. */
  static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
