package dev.fencepost.operations;

import org.jspecify.annotations.Nullable;

/**
 * Who asks for a change, for the audit log.
 *
 * @param note why; or null
 */
public record Who(String operator, @Nullable String note) {}
