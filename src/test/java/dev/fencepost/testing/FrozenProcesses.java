package dev.fencepost.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Wakes processes that are frozen when this JVM dies, however it dies. A signal of the parent's
 * death kills a server; but its children, which it would have taken along, are frozen and see
 * nothing of it. So a shell outside of this JVM's session knows them, and waits for the end of its
 * input.
 */
final class FrozenProcesses {

  /** The last complete line counts. */
  private static final String WATCH =
      "frozen=; while read -r all; do frozen=$all; done; "
          + "for pid in $frozen; do kill -CONT $pid 2>/dev/null; done";

  private static final Set<Long> FROZEN = new LinkedHashSet<>();
  private static Process watcher;

  private FrozenProcesses() {}

  /** To be said before they are frozen. */
  static synchronized void add(List<Long> pids) {
    FROZEN.addAll(pids);
    tell();
  }

  static synchronized void remove(List<Long> pids) {
    if (FROZEN.removeAll(pids)) {
      tell();
    }
  }

  private static void tell() {
    String line = FROZEN.stream().map(String::valueOf).collect(Collectors.joining(" ", "", "\n"));
    try {
      if (watcher == null || !watcher.isAlive()) {
        watcher = start();
      }
      OutputStream input = watcher.getOutputStream();
      input.write(line.getBytes(StandardCharsets.UTF_8));
      input.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** In a session of its own: whoever kills a whole group of processes leaves it alone. */
  private static Process start() throws IOException {
    return new ProcessBuilder("setsid", "sh", "-c", WATCH)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }
}
