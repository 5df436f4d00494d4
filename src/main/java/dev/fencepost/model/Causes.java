package dev.fencepost.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads exceptions of others: their methods may throw and their causes may go round in a circle,
 * and neither is to keep a run from being settled.
 */
public final class Causes {
  private static final int DEEPEST = 64;

  /** By name: those of futures have no place among pure decisions. */
  private static final Set<String> WRAPPERS =
      Set.of(
          "java.util.concurrent.CompletionException",
          "java.util.concurrent.ExecutionException",
          "java.lang.reflect.InvocationTargetException");

  private Causes() {}

  /** The exception and its causes, the outermost first; of a circle, a bounded part. */
  public static List<Throwable> of(@Nullable Throwable outermost) {
    List<Throwable> chain = new ArrayList<>(2);
    for (Throwable at = outermost; at != null && chain.size() < DEEPEST; at = cause(at)) {
      chain.add(at);
    }
    return chain;
  }

  /** What the JDK's futures and reflection have wrapped; anything else as it is. */
  public static Throwable unwrapped(Throwable failure) {
    for (Throwable at : of(failure)) {
      if (!wraps(at)) {
        return at;
      }
    }
    return failure;
  }

  /** No subclasses: those are somebody's own, and say something. */
  private static boolean wraps(Throwable t) {
    return WRAPPERS.contains(t.getClass().getName());
  }

  static @Nullable Throwable cause(Throwable t) {
    try {
      return t.getCause();
    } catch (Throwable broken) {
      return null;
    }
  }
}
