package dev.fencepost.cli;

import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Columns in line, numbers to the right, for people; nothing a cell holds can steer the terminal.
 */
final class TextTable {
  private static final int WIDEST = 60;

  private final List<List<String>> rows = new ArrayList<>();
  private final int columns;
  private boolean uncut;

  TextTable(String... heads) {
    columns = heads.length;
    rows.add(List.of(heads));
  }

  /** Shows the last column whole. */
  TextTable lastUncut() {
    uncut = true;
    return this;
  }

  /** Null is shown as a dash. */
  void row(@Nullable Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      String text = printable(text(cell));
      row.add(uncut && row.size() == columns - 1 ? text : cut(text));
    }
    rows.add(row);
  }

  private static String text(@Nullable Object cell) {
    if (cell instanceof Instant at) {
      return at.truncatedTo(ChronoUnit.MILLIS).toString();
    }
    return cell == null ? "-" : cell.toString();
  }

  boolean isEmpty() {
    return rows.size() == 1;
  }

  void print(PrintWriter out) {
    int[] widths = new int[columns];
    boolean[] right = new boolean[columns];
    for (int c = 0; c < columns; c++) {
      right[c] = rows.size() > 1;
      for (int r = 0; r < rows.size(); r++) {
        String cell = rows.get(r).get(c);
        widths[c] = Math.max(widths[c], cell.codePointCount(0, cell.length()));
        right[c] &= r == 0 || cell.equals("-") || cell.matches("-?[\\d.]+\\+?");
      }
    }
    for (List<String> row : rows) {
      out.println(line(row, widths, right));
    }
  }

  private String line(List<String> row, int[] widths, boolean[] right) {
    StringBuilder line = new StringBuilder();
    for (int c = 0; c < columns; c++) {
      String cell = row.get(c);
      String pad = " ".repeat(widths[c] - cell.codePointCount(0, cell.length()));
      line.append(right[c] ? pad + cell : cell + pad).append("  ");
    }
    return line.toString().stripTrailing();
  }

  private static String cut(String text) {
    return text.codePointCount(0, text.length()) <= WIDEST
        ? text
        : text.substring(0, text.offsetByCodePoints(0, WIDEST - 1)) + "…";
  }

  /**
   * What steers a screen or ends a line, as dots: a message must not move the cursor, colour the
   * screen, or pass for another line.
   */
  static String printable(String text) {
    StringBuilder safe = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              safe.appendCodePoint(steers(c) ? '·' : c);
            });
    return safe.toString();
  }

  private static boolean steers(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }
}
