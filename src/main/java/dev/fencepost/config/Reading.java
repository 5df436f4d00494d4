package dev.fencepost.config;

import dev.fencepost.config.ConfigFaults.Fault;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What one reading of a file gathers: its faults, and every key that was asked for. */
final class Reading {
  final List<Fault> faults = new ArrayList<>();

  /** Key paths with {@code *} for the names that users choose. */
  final Set<String> askedKeys = new LinkedHashSet<>();

  final Variables variables;

  Reading(Variables variables) {
    this.variables = variables;
  }
}
