package dev.fencepost.config;

import dev.fencepost.config.SqlTemplate.Parameter;
import dev.fencepost.config.SqlTemplate.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** Walks over SQL as PostgreSQL's lexer does, as far as telling code from quoted text needs it. */
final class SqlScanner {
  // They would end, or reach beyond, the transaction that the receipt is written in.
  private static final Set<String> NOT_HERE =
      Set.of(
          "begin",
          "start",
          "commit",
          "end",
          "rollback",
          "abort",
          "savepoint",
          "release",
          "prepare",
          "deallocate",
          "set",
          "reset",
          "discard",
          "copy",
          "listen",
          "unlisten");

  private final String sql;
  private final StringBuilder out = new StringBuilder();
  private final List<Parameter> parameters = new ArrayList<>();
  private final List<Problem> problems = new ArrayList<>();
  private int at;
  private int brackets;
  private boolean ended;
  private String firstWord = "";
  // The last character of code that is not space: a colon after an expression in [] is a slice.
  private char last = ' ';

  SqlScanner(String sql) {
    this.sql = sql;
  }

  SqlTemplate template() {
    while (at < sql.length()) {
      step();
    }
    if (firstWord.isEmpty() && problems.isEmpty()) {
      problem(0, "holds no statement", "one insert, update, delete, merge, select or call");
    }
    if (NOT_HERE.contains(firstWord)) {
      problem(0, firstWord + " cannot run in the receipt's transaction", "one statement of data");
    }
    return new SqlTemplate(out.toString(), List.copyOf(parameters), List.copyOf(problems));
  }

  private void step() {
    char c = sql.charAt(at);
    if (Character.isWhitespace(c)) {
      copy(1);
    } else if (sql.startsWith("--", at)) {
      int end = sql.indexOf('\n', at);
      copy((end < 0 ? sql.length() : end) - at);
    } else if (sql.startsWith("/*", at)) {
      copy(commentEnd() - at);
    } else {
      code(c);
    }
  }

  private void code(char c) {
    if (ended && c != ';') {
      problem(at, "holds more than one statement", "one statement");
      at = sql.length();
    } else if (c == '\'' || c == '"') {
      quoted(at, c, false);
    } else if (Character.isLetter(c) || c == '_') {
      word();
    } else if (c == '$') {
      dollar();
    } else if (c == ':') {
      colon();
    } else {
      brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
      ended |= c == ';';
      take(1);
    }
  }

  private void word() {
    int end = at;
    while (end < sql.length() && isWordPart(sql.charAt(end))) {
      end++;
    }
    String word = sql.substring(at, end).toLowerCase(Locale.ROOT);
    if (firstWord.isEmpty()) {
      firstWord = word;
    }
    if (word.equals("e") && end < sql.length() && sql.charAt(end) == '\'') {
      quoted(end, '\'', true);
    } else {
      take(end - at);
    }
  }

  private void quoted(int quoteAt, char quote, boolean backslash) {
    int i = quoteAt + 1;
    while (i < sql.length()) {
      char c = sql.charAt(i);
      if (c == quote && i + 1 < sql.length() && sql.charAt(i + 1) == quote) {
        i += 2;
      } else if (c == quote) {
        take(i + 1 - at);
        return;
      } else {
        i += backslash && c == '\\' ? 2 : 1;
      }
    }
    unclosed(quoteAt, String.valueOf(quote));
  }

  private void dollar() {
    int end = at + 1;
    while (end < sql.length() && isWordPart(sql.charAt(end)) && sql.charAt(end) != '$') {
      end++;
    }
    boolean number = end > at + 1 && Character.isDigit(sql.charAt(at + 1));
    if (!number && end < sql.length() && sql.charAt(end) == '$') {
      String tag = sql.substring(at, end + 1);
      int close = sql.indexOf(tag, end + 1);
      if (close < 0) {
        unclosed(at, tag);
      } else {
        take(close + tag.length() - at);
      }
      return;
    }
    if (number) {
      problem(at, sql.substring(at, end) + " is a numbered parameter", names());
    }
    take(end - at);
  }

  private void colon() {
    int end = at + 1;
    while (end < sql.length() && isWordPart(sql.charAt(end)) && sql.charAt(end) != '$') {
      end++;
    }
    boolean slice = brackets > 0 && (isWordPart(last) || last == ')' || last == ']');
    if (sql.startsWith("::", at)) {
      take(2);
    } else if (end == at + 1 || Character.isDigit(sql.charAt(at + 1)) || slice) {
      take(1);
    } else {
      parameter(sql.substring(at + 1, end));
      at = end;
      last = ')';
    }
  }

  private void parameter(String name) {
    for (Parameter one : Parameter.values()) {
      if (one.wire().equals(name)) {
        if (!parameters.contains(one)) {
          parameters.add(one);
        }
        out.append(one.placeholder(parameters.indexOf(one) + 1));
        return;
      }
    }
    List<String> known = Arrays.stream(Parameter.values()).map(Parameter::wire).toList();
    problem(at, "unknown parameter :" + name + NearMiss.hint(name, known), names());
  }

  private int commentEnd() {
    int depth = 0;
    int i = at;
    while (i < sql.length()) {
      if (sql.startsWith("/*", i)) {
        depth++;
        i += 2;
      } else if (sql.startsWith("*/", i)) {
        depth--;
        i += 2;
        if (depth == 0) {
          return i;
        }
      } else {
        i++;
      }
    }
    problem(at, "has a /* that is never closed", "*/ after it");
    return sql.length();
  }

  private void unclosed(int from, String quote) {
    problem(from, "has a " + quote + " that is never closed", quote + " after it");
    copy(sql.length() - at);
  }

  private void take(int length) {
    copy(length);
    last = sql.charAt(at - 1);
  }

  private void copy(int length) {
    out.append(sql, at, at + length);
    at += length;
  }

  private void problem(int where, String what, String allowed) {
    String before = sql.substring(0, Math.min(where, sql.length()));
    int line = 1 + (int) before.chars().filter(c -> c == '\n').count();
    problems.add(new Problem(line, where - before.lastIndexOf('\n'), what, allowed));
  }

  private static String names() {
    return Arrays.stream(Parameter.values())
        .map(p -> ":" + p.wire())
        .collect(Collectors.joining(" "));
  }

  private static boolean isWordPart(char c) {
    return Character.isLetterOrDigit(c) || c == '_' || c == '$';
  }
}
