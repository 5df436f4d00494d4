package dev.fencepost.boot;

import dev.fencepost.operations.Readiness;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What stands still in this process and why. A change is logged once, however often it is found
 * again. Safe from any thread: a part's reason is the whole state.
 */
final class Standing {

  private static final Logger LOG = LoggerFactory.getLogger(Standing.class);

  private final Map<String, String> reasons = new ConcurrentHashMap<>();

  void blocked(String part, String reason) {
    if (!reason.equals(reasons.put(part, reason))) {
      LOG.warn("{} not ready: {}", part, reason);
    }
  }

  /** As {@link #blocked}, for what is no fault. */
  void expected(String part, String reason) {
    reasons.put(part, reason);
  }

  /** What was expected has come about. */
  void met(String part) {
    reasons.remove(part);
  }

  void clear(String part) {
    if (reasons.remove(part) != null) {
      LOG.info("{} ready", part);
    }
  }

  List<Readiness.Reason> reasons() {
    return reasons.entrySet().stream()
        .map(each -> new Readiness.Reason(each.getKey(), each.getValue()))
        .sorted(Comparator.comparing(Readiness.Reason::part))
        .toList();
  }
}
