package dev.fencepost.operations;

import org.jspecify.annotations.Nullable;

/**
 * Who asks for a change, for the audit log.
 *
 * @param note why; or null
 */
public record Who(String operator, @Nullable String note) {
  public Who {
    // A form sends what was left empty too.
    note = note == null || note.isBlank() ? null : note;
  }
}
