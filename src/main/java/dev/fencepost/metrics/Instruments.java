package dev.fencepost.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.jmx.JmxMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes meters. They are recorded once, for Prometheus; JMX reads the same counts when it is asked,
 * so that a second reader costs the hot path nothing.
 */
final class Instruments {
  private static final Logger LOG = LoggerFactory.getLogger(Instruments.class);

  private final PrometheusMeterRegistry registry;
  private final @Nullable JmxMeterRegistry jmx;

  Instruments(PrometheusMeterRegistry registry, @Nullable JmxMeterRegistry jmx) {
    this.registry = registry;
    this.jmx = jmx;
  }

  Counter counter(String name, String description, Tags tags) {
    Counter counter = Counter.builder(name).description(description).tags(tags).register(registry);
    mirror(jmx -> FunctionCounter.builder(name, counter, Counter::count).tags(tags).register(jmx));
    return counter;
  }

  Timer timer(String name, String description, Tags tags, Duration... buckets) {
    Timer timer =
        Timer.builder(name)
            .description(description)
            .tags(tags)
            .serviceLevelObjectives(buckets)
            .register(registry);
    mirror(
        jmx ->
            FunctionTimer.builder(
                    name,
                    timer,
                    Timer::count,
                    t -> t.totalTime(TimeUnit.NANOSECONDS),
                    TimeUnit.NANOSECONDS)
                .tags(tags)
                .register(jmx));
    return timer;
  }

  /** A gauge of what {@code state} says; the state is held by the meter. */
  <T> void gauge(String name, String description, Tags tags, T state, ToDoubleFunction<T> value) {
    gauge(registry, name, description, tags, state, value);
    mirror(jmx -> gauge(jmx, name, description, tags, state, value));
  }

  /** Takes a gauge away: what it told of is not this process's any more. */
  void removeGauge(String name, Tags tags) {
    remove(registry, name, tags);
    if (jmx != null) {
      remove(jmx, name, tags);
    }
  }

  /** Names of MBeans have no spaces: types that differ in those alone would be one and the same. */
  private void mirror(Consumer<JmxMeterRegistry> register) {
    if (jmx != null) {
      try {
        register.accept(jmx);
      } catch (IllegalArgumentException taken) {
        LOG.warn("one metric less in JMX: {}", taken.getMessage());
      }
    }
  }

  private static <T> void gauge(
      MeterRegistry in,
      String name,
      String description,
      Tags tags,
      T state,
      ToDoubleFunction<T> value) {
    Gauge.builder(name, state, value)
        .description(description)
        .tags(tags)
        .strongReference(true)
        .baseUnit(name.endsWith(".age") || name.endsWith(".lag") ? "seconds" : null)
        .register(in);
  }

  private static void remove(MeterRegistry from, String name, Tags tags) {
    Gauge gauge = from.find(name).tags(tags).gauge();
    if (gauge != null) {
      from.remove(gauge);
    }
  }
}
