package dev.fencepost.boot;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.lang.reflect.Proxy;

/** Ports that have no adapter in this version: asking them fails, in words. */
final class Missing {

  private Missing() {}

  static <T> T port(Class<T> port) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) ->
                Future.failedFuture(
                    new FencepostException(
                        FailureKind.INTERNAL, "this version cannot do that: " + port.getName()))));
  }
}
