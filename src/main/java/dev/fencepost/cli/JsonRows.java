package dev.fencepost.cli;

import dev.fencepost.operations.ViewRow;
import java.io.PrintWriter;
import java.util.List;

/** A JSON array whose elements are printed as they come. */
final class JsonRows {
  private final PrintWriter out;
  private boolean begun;

  JsonRows(PrintWriter out) {
    this.out = out;
  }

  /**
   * @return false when nobody reads any more
   */
  boolean print(List<ViewRow> rows) {
    for (ViewRow row : rows) {
      out.print(begun ? ", " : "[ ");
      out.print(row.toJson().encodePrettily());
      begun = true;
    }
    return !out.checkError();
  }

  /**
   * @return false when it could not be written whole
   */
  boolean end() {
    out.println(begun ? " ]" : "[ ]");
    return !out.checkError();
  }
}
