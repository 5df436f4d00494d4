package dev.fencepost.boot;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * SIGHUP, which would end the process otherwise. Java has no public way to hear of a signal: {@code
 * sun.misc.Signal} of the module {@code jdk.unsupported} is looked up by name, so that where it is
 * missing only this is.
 */
final class HangUp {

  private static final Logger LOG = LoggerFactory.getLogger(HangUp.class);

  private HangUp() {}

  /** Calls {@code task} at each SIGHUP, on a thread of the JVM. */
  static void call(Runnable task) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object told =
          Proxy.newProxyInstance(
              HangUp.class.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) -> {
                task.run();
                return null;
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), told);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      LOG.warn("SIGHUP is not heard here ({}); the file is still watched", e.toString());
    }
  }
}
