package dev.fencepost.boot;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
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

  private final Map<String, Readiness.Reason> reasons = new ConcurrentHashMap<>();

  void blocked(Readiness.Reason reason) {
    if (!reason.equals(reasons.put(reason.part(), reason))) {
      LOG.warn("{} not ready: {}", reason.part(), reason.reason());
    }
  }

  /** As {@link #blocked}, for what is no fault. */
  void expected(Readiness.Reason reason) {
    reasons.put(reason.part(), reason);
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

  /** What a failure says of a part: its kind to everyone, its text to who may read it. */
  static Readiness.Reason of(String part, Throwable failure) {
    FailureKind kind =
        failure instanceof FencepostException known ? known.kind() : FailureKind.INTERNAL;
    return new Readiness.Reason(part, kind.wire(), String.valueOf(failure.getMessage()));
  }

  List<Readiness.Reason> reasons() {
    return reasons.values().stream().sorted(Comparator.comparing(Readiness.Reason::part)).toList();
  }
}
