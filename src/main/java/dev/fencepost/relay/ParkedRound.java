package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.relay.ParkedRows.Answer;
import dev.fencepost.relay.ParkedRows.Destination;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Parked rows that were due together, and what became of them. */
final class ParkedRound {
  final List<Answer> answers = new ArrayList<>();

  /** Rows that were sent. */
  final List<OutboxRow> tried = new ArrayList<>();

  /** Where nothing is answered, or all is refused. */
  final Set<Destination> closed = new LinkedHashSet<>();

  /** Whole exchanges that had been silent before, and still are. */
  final Set<Destination> silentStill = new HashSet<>();

  /** Rows that were sent there. */
  List<OutboxRow> tried(Destination to) {
    return tried.stream().filter(row -> to.takes(row.route())).toList();
  }
}
