package dev.fencepost.boot;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.ConfigFaults;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.handlers.Handlers;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.worker.BoundHandler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Handlers that an embedding application registered, in place of those the configuration names. */
public final class CodeHandlers {

  private final Map<Name, BoundHandler> handlers = new LinkedHashMap<>();

  private record Name(String consumer, String type) {}

  /** A second registration replaces the first. */
  public CodeHandlers register(String consumer, String type, BoundHandler handler) {
    handlers.put(new Name(consumer, type), handler);
    return this;
  }

  Optional<BoundHandler> find(QueueConfig queue, ActivityConfig activity) {
    return Optional.ofNullable(handlers.get(new Name(queue.name(), activity.type())));
  }

  /**
   * @throws FencepostException of kind CONFIGURATION when one was registered for an activity that
   *     is not configured, or does not fit its kind
   */
  void check(FencepostConfig config) {
    handlers.forEach((name, handler) -> check(config, name, handler));
  }

  /** Every class of the configuration that is needed and cannot be made. */
  List<ConfigFaults.Fault> classFaults(FencepostConfig config) {
    return Handlers.faults(config, (queue, activity) -> find(queue, activity).isPresent());
  }

  private static void check(FencepostConfig config, Name name, BoundHandler handler) {
    QueueConfig queue = config.queues().get(name.consumer());
    ActivityConfig activity = queue == null ? null : queue.activities().get(name.type());
    String path = "queues." + name.consumer() + ".activities." + name.type();
    if (activity == null) {
      throw wrong(path + ": a handler was registered for it, but it is not configured");
    }
    boolean effect = handler instanceof BoundHandler.Effect;
    if (effect != (activity.kind() == ActivityKind.EFFECT)) {
      throw wrong(
          path
              + ": the handler registered "
              + (effect ? "is" : "is not")
              + " an EffectHandler, kind is "
              + activity.kind().wire());
    }
  }

  private static FencepostException wrong(String what) {
    return new FencepostException(FailureKind.CONFIGURATION, what);
  }
}
