package dev.fencepost.decide;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads a table of expectations as it is. */
public final class SpecCsv {
  private SpecCsv() {}

  /** The rows, each by column name; empty cells are empty strings. */
  public static List<Map<String, String>> rows(String file) {
    try (InputStream in = SpecCsv.class.getResourceAsStream("/spec/" + file)) {
      if (in == null) {
        throw new IllegalStateException("no such table: " + file);
      }
      List<String> lines =
          new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().map(String::strip).toList();
      String[] names = lines.get(0).split(",", -1);
      List<Map<String, String>> rows = new ArrayList<>();
      for (String line : lines.subList(1, lines.size())) {
        if (!line.isEmpty()) {
          rows.add(row(names, line.split(",", -1)));
        }
      }
      return rows;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, String> row(String[] names, String[] cells) {
    if (names.length != cells.length) {
      throw new IllegalStateException("a row of another width: " + Arrays.toString(cells));
    }
    Map<String, String> row = new LinkedHashMap<>();
    for (int i = 0; i < names.length; i++) {
      row.put(names[i], cells[i]);
    }
    return row;
  }
}
