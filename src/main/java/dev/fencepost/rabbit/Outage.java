package dev.fencepost.rabbit;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.event.Level;

/**
 * How loud each failed try of an outage is said: the first one as a warning, another reason for the
 * record, and what has been said before hardly at all, however many hosts refuse in turn.
 */
final class Outage {
  private static final int MOST = 20;

  private final Set<String> said = new HashSet<>();

  Level level(String line) {
    if (said.isEmpty()) {
      said.add(line);
      return Level.WARN;
    }
    return said.size() < MOST && said.add(line) ? Level.INFO : Level.DEBUG;
  }

  /** The next failure is a new outage. */
  void over() {
    said.clear();
  }
}
