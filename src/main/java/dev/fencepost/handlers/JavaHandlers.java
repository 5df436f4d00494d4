package dev.fencepost.handlers;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.config.ConfigFaults;
import dev.fencepost.config.ConfigFaults.Fault;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Vertx;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds and makes the user's handler classes. */
final class JavaHandlers {
  private static final String INTERFACES =
      "a class that implements ActivityHandler, BlockingActivityHandler or EffectHandler";
  private static final String CONSTRUCTOR =
      "a public class with a public constructor that takes nothing or io.vertx.core.Vertx";

  private final String path;
  private final String name;

  /**
   * @param path of the key in the configuration, for faults
   */
  JavaHandlers(String path, String name) {
    this.path = path;
    this.name = name;
  }

  /** That no such class is on the class path; empty when it is, fitting or not. */
  Optional<Fault> missing() {
    try {
      Class.forName(name, false, loader());
      return Optional.empty();
    } catch (ClassNotFoundException e) {
      return Optional.of(absent(e).faults().get(0));
    } catch (LinkageError there) {
      return Optional.empty();
    }
  }

  /** What is wrong with the class, without making one; empty when it can be made. */
  Optional<Fault> fault(ActivityKind kind) {
    try {
      linked(() -> check(load(), kind));
      return Optional.empty();
    } catch (ConfigFaults e) {
      return Optional.of(e.faults().get(0));
    }
  }

  /**
   * @throws ConfigFaults when the class cannot be found, does not fit or fails to be made
   */
  BoundHandler make(ActivityKind kind, Vertx vertx) {
    Object made = linked(() -> make(check(load(), kind), vertx));
    if (made instanceof EffectHandler effect) {
      return new BoundHandler.Effect(effect);
    }
    return made instanceof BlockingActivityHandler blocking
        ? new BoundHandler.Blocking(blocking)
        : new BoundHandler.Async((ActivityHandler) made);
  }

  private Class<?> load() {
    try {
      return Class.forName(name, true, loader());
    } catch (ClassNotFoundException e) {
      throw absent(e);
    }
  }

  /** What a class needs is looked for when it is asked about, too: the types of a constructor. */
  private <T> T linked(Supplier<T> step) {
    try {
      return step.get();
    } catch (LinkageError e) {
      throw fault("cannot be loaded (" + e + ")", INTERFACES + ", with all that it needs", e);
    }
  }

  private static ClassLoader loader() {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    return context == null ? JavaHandlers.class.getClassLoader() : context;
  }

  private ConfigFaults absent(ClassNotFoundException e) {
    return fault(
        "is not on the class path", INTERFACES + ", in a jar named by FENCEPOST_CLASSPATH", e);
  }

  private Constructor<?> check(Class<?> type, ActivityKind kind) {
    boolean effect = EffectHandler.class.isAssignableFrom(type);
    boolean blocking = BlockingActivityHandler.class.isAssignableFrom(type);
    boolean async = ActivityHandler.class.isAssignableFrom(type);
    int all = (effect ? 1 : 0) + (blocking ? 1 : 0) + (async ? 1 : 0);
    if (all != 1) {
      String problem = all == 0 ? "implements none of the handlers" : "implements several handlers";
      throw fault(problem, INTERFACES + ", exactly one", null);
    }
    if (effect != (kind == ActivityKind.EFFECT)) {
      String wanted =
          effect ? "kind effect, or another handler" : "a class that implements EffectHandler";
      throw fault("does not fit kind " + kind.wire(), wanted, null);
    }
    if (kind == ActivityKind.QUERYABLE && !hasProbe(type)) {
      throw fault(
          "has no probe, and kind is queryable", "a handler that overrides probe(context)", null);
    }
    return constructor(type);
  }

  private static boolean hasProbe(Class<?> type) {
    try {
      Class<?> where = type.getMethod("probe", ActivityContext.class).getDeclaringClass();
      return where != ActivityHandler.class && where != BlockingActivityHandler.class;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  private Constructor<?> constructor(Class<?> type) {
    boolean usable =
        Modifier.isPublic(type.getModifiers()) && !Modifier.isAbstract(type.getModifiers());
    if (usable) {
      for (Constructor<?> one : type.getConstructors()) {
        Class<?>[] takes = one.getParameterTypes();
        if (takes.length == 0 || (takes.length == 1 && takes[0] == Vertx.class)) {
          return one;
        }
      }
    }
    throw fault("cannot be made", CONSTRUCTOR, null);
  }

  private Object make(Constructor<?> constructor, Vertx vertx) {
    try {
      return constructor.getParameterCount() == 0
          ? constructor.newInstance()
          : constructor.newInstance(vertx);
    } catch (InvocationTargetException e) {
      throw fault("failed in its constructor: " + e.getCause(), CONSTRUCTOR, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw fault("cannot be made: " + e, CONSTRUCTOR, e);
    }
  }

  private ConfigFaults fault(String problem, String allowed, @Nullable Throwable cause) {
    return new ConfigFaults(List.of(new Fault(path, name + " " + problem, allowed)), cause);
  }
}
