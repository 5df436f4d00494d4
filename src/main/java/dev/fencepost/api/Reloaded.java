package dev.fencepost.api;

import java.util.List;

/**
 * What came of reading a configuration again; both lists name keys, such as {@code
 * queues.mail.prefetch}.
 *
 * @param applied holds from now on
 * @param needRestart has changed, and keeps its running value until the next start
 */
public record Reloaded(List<String> applied, List<String> needRestart) {
  public Reloaded {
    applied = List.copyOf(applied);
    needRestart = List.copyOf(needRestart);
  }
}
