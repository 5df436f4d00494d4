package dev.fencepost.worker;

import io.vertx.core.Future;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;

/** A store that meets its process's death before or after a call. */
final class DyingStore {
  private record Around(Stage before, Stage after) {}

  private static final Map<String, Around> STAGES =
      Map.of(
          "claim", new Around(Stage.BEFORE_CLAIM, Stage.AFTER_CLAIM),
          "recordReceipt", new Around(Stage.BEFORE_RECEIPT_WRITE, Stage.AFTER_RECEIPT_WRITE),
          "settle", new Around(Stage.BEFORE_COMPLETION_COMMIT, Stage.AFTER_COMPLETION_COMMIT),
          "commit", new Around(Stage.BEFORE_COMMIT, Stage.AFTER_COMMIT_BEFORE_ACK));

  private DyingStore() {}

  static ActivityStore of(ActivityStore store, Death death) {
    return wrap(ActivityStore.class, store, death);
  }

  private static <T> T wrap(Class<T> type, T target, Death death) {
    InvocationHandler handler =
        (proxy, method, arguments) -> call(target, method, arguments, death);
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static Object call(Object target, Method method, Object[] arguments, Death death)
      throws Throwable {
    Around around = STAGES.get(method.getName());
    if (around != null) {
      death.at(around.before());
    }
    try {
      Object result = method.invoke(target, arguments);
      if (around != null && result instanceof Future<?> future) {
        return future.map(
            done -> {
              death.at(around.after());
              return (Object) done;
            });
      }
      if (method.getName().startsWith("beginEffect") && result instanceof Future<?> future) {
        return future.map(
            group ->
                wrap(ActivityStore.EffectGroup.class, (ActivityStore.EffectGroup) group, death));
      }
      return result;
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
