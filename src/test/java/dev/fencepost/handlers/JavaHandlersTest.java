package dev.fencepost.handlers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.ProbeResult;
import dev.fencepost.api.Receipt;
import dev.fencepost.config.ConfigFaults;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlConnection;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JavaHandlersTest {
  private static final AtomicInteger CLOSED = new AtomicInteger();
  private final Handlers handlers = new Handlers(HttpFixture.VERTX);

  public static class Async implements ActivityHandler, AutoCloseable {
    @Override
    public Future<Receipt> run(ActivityContext context) {
      return Future.succeededFuture(Receipt.succeeded());
    }

    @Override
    public void close() {
      CLOSED.incrementAndGet();
    }
  }

  public static class WithVertx implements ActivityHandler {
    final Vertx vertx;

    public WithVertx(Vertx vertx) {
      this.vertx = vertx;
    }

    @Override
    public Future<Receipt> run(ActivityContext context) {
      return Future.succeededFuture(Receipt.succeeded());
    }

    @Override
    public Future<ProbeResult> probe(ActivityContext context) {
      return Future.succeededFuture(ProbeResult.neverHappened());
    }
  }

  public static class Blocking implements BlockingActivityHandler {
    @Override
    public Receipt run(ActivityContext context) {
      return Receipt.succeeded();
    }
  }

  public static class Effect implements EffectHandler {
    @Override
    public Future<Receipt> run(ActivityContext context, SqlConnection transaction) {
      return Future.succeededFuture(Receipt.succeeded());
    }
  }

  public static class Both extends Blocking implements EffectHandler {
    @Override
    public Future<Receipt> run(ActivityContext context, SqlConnection transaction) {
      return Future.succeededFuture(Receipt.succeeded());
    }
  }

  public abstract static class Abstract extends Blocking {}

  static class NotPublic extends Blocking {}

  public static class Demanding extends Blocking {
    public Demanding(String what) {}
  }

  public static class Failing extends Blocking {
    public Failing() {
      throw new IllegalStateException("no licence");
    }
  }

  public static class BadStatic extends Blocking {
    static final int VALUE = Integer.parseInt("x");
  }

  /** Of a library that is not there where the handler is. */
  public static class Library {}

  public static class Incomplete extends Blocking {
    public Incomplete() {}

    public Incomplete(Library library) {}

    public void with(Library library) {}
  }

  /** A class path on which the library is missing. */
  private static final class Hiding extends ClassLoader {
    Hiding(ClassLoader parent) {
      super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.equals(Library.class.getName())) {
        throw new ClassNotFoundException(name);
      }
      return name.equals(Incomplete.class.getName()) ? own(name) : super.loadClass(name, resolve);
    }

    private Class<?> own(String name) throws ClassNotFoundException {
      Class<?> known = findLoadedClass(name);
      String file = name.replace('.', '/') + ".class";
      try (InputStream in = getParent().getResourceAsStream(file)) {
        byte[] bytes = in.readAllBytes();
        return known != null ? known : defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @AfterEach
  void close() {
    Await.result(handlers.close());
  }

  @Test
  void eachFormIsMade() {
    assertThat(bind("pure", "Async")).isInstanceOf(BoundHandler.Async.class);
    assertThat(bind("irreversible", "Blocking")).isInstanceOf(BoundHandler.Blocking.class);
    assertThat(bind("effect", "Effect")).isInstanceOf(BoundHandler.Effect.class);
    BoundHandler withVertx = bind("queryable", "WithVertx");
    assertThat(((WithVertx) ((BoundHandler.Async) withVertx).handler()).vertx)
        .isSameAs(HttpFixture.VERTX);
    assertThat(withVertx.admission().closedFor()).isEmpty();
  }

  @Test
  void aHandlerThatCanBeClosedIsClosedWithTheRest() {
    int before = CLOSED.get();
    Handlers own = new Handlers(HttpFixture.VERTX);
    QueueConfig queue = config("pure", "Async").queues().get("q");
    own.bind(queue, queue.activities().get("t"));
    Await.result(own.close());
    assertThat(CLOSED).hasValue(before + 1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pure|Missing|is not on the class path",
        "effect|Async|does not fit kind effect; allowed: a class that implements EffectHandler",
        "pure|Effect|does not fit kind pure; allowed: kind effect, or another handler",
        "pure|Both|implements several handlers",
        "queryable|Blocking|has no probe, and kind is queryable",
        "pure|Abstract|cannot be made; allowed: a public class with a public constructor",
        "pure|NotPublic|cannot be made; allowed: a public class with a public constructor",
        "pure|Demanding|cannot be made; allowed: a public class with a public constructor",
      })
  void whatCannotBeMadeIsToldAndFoundByTheCheck(String kind, String name, String problem) {
    String line =
        "queues.q.activities.t.handler.class: "
            + JavaHandlersTest.class.getName()
            + "$"
            + name
            + " "
            + problem;
    assertThatThrownBy(() -> bind(kind, name))
        .isInstanceOf(ConfigFaults.class)
        .hasMessageStartingWith(line);
    assertThat(Handlers.faults(config(kind, name), (queue, activity) -> true)).isEmpty();
    assertThat(Handlers.faults(config(kind, name), (queue, activity) -> false))
        .singleElement()
        .satisfies(fault -> assertThat(fault.toString()).startsWith(line));
  }

  @Test
  void aClassOfAnotherKindIsNoHandler() {
    QueueConfig queue =
        ConfigLoader.parse(
                "queues: {q: {queue: q, activities: {t: {kind: pure, handler: {class:"
                    + " java.lang.String}}}}}",
                Map.of())
            .queues()
            .get("q");
    assertThatThrownBy(() -> handlers.bind(queue, queue.activities().get("t")))
        .hasMessageStartingWith(
            "queues.q.activities.t.handler.class: java.lang.String implements none of the"
                + " handlers; allowed: a class that implements ActivityHandler,"
                + " BlockingActivityHandler or EffectHandler");
  }

  @Test
  void whatFailsWhileItIsMadeIsTold() {
    assertThatThrownBy(() -> bind("pure", "Failing"))
        .isInstanceOf(ConfigFaults.class)
        .hasMessageContaining("failed in its constructor: java.lang.IllegalStateException: no lic");
    assertThatThrownBy(() -> bind("pure", "BadStatic"))
        .isInstanceOf(ConfigFaults.class)
        .hasMessageContaining("cannot be loaded (java.lang.ExceptionInInitializerError");
  }

  /** What only a constructor names is looked for when the class is asked for its constructors. */
  @Test
  void aConstructorThatNamesAMissingClassIsToldAndFoundByTheCheck() {
    String line =
        "queues.q.activities.t.handler.class: "
            + JavaHandlersTest.class.getName()
            + "$Incomplete cannot be loaded (java.lang.NoClassDefFoundError: ";
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(new Hiding(before));
    try {
      for (String kind : List.of("pure", "queryable")) {
        assertThat(Handlers.faults(config(kind, "Incomplete"), (queue, activity) -> false))
            .singleElement()
            .satisfies(fault -> assertThat(fault.toString()).startsWith(line));
        assertThatThrownBy(() -> bind(kind, "Incomplete"))
            .isInstanceOf(ConfigFaults.class)
            .hasMessageStartingWith(line);
      }
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  private BoundHandler bind(String kind, String name) {
    QueueConfig queue = config(kind, name).queues().get("q");
    return handlers.bind(queue, queue.activities().get("t"));
  }

  private static FencepostConfig config(String kind, String name) {
    return ConfigLoader.parse(
        "queues: {q: {queue: q, activities: {t: {kind: "
            + kind
            + ", handler: {class: '"
            + JavaHandlersTest.class.getName()
            + "$"
            + name
            + "'}}}}}",
        Map.of());
  }
}
