package dev.fencepost.metrics;

import dev.fencepost.operations.LiveMetrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Our own metrics as numbers, named as Prometheus has them. */
final class LiveSamples implements LiveMetrics {
  private static final String OURS = "fencepost.";

  private final MeterRegistry registry;
  private final Runnable refresh;

  LiveSamples(MeterRegistry registry, Runnable refresh) {
    this.registry = registry;
    this.refresh = refresh;
  }

  @Override
  public List<Sample> samples() {
    refresh.run();
    List<Sample> samples = new ArrayList<>();
    for (Meter meter : registry.getMeters()) {
      if (meter.getId().getName().startsWith(OURS)) {
        add(meter, samples);
      }
    }
    return samples;
  }

  private static void add(Meter meter, List<Sample> samples) {
    String name = meter.getId().getName().replace('.', '_');
    Map<String, String> labels = new LinkedHashMap<>();
    for (Tag tag : meter.getId().getTags()) {
      labels.put(tag.getKey(), tag.getValue());
    }
    if (meter instanceof Counter counter) {
      samples.add(new Sample(name + "_total", labels, counter.count()));
    } else if (meter instanceof Timer timer) {
      String base = name + "_seconds";
      samples.add(new Sample(base + "_count", labels, timer.count()));
      samples.add(new Sample(base + "_sum", labels, timer.totalTime(TimeUnit.SECONDS)));
      samples.add(new Sample(base + "_max", labels, timer.max(TimeUnit.SECONDS)));
    } else if (meter instanceof Gauge gauge) {
      String unit = meter.getId().getBaseUnit();
      samples.add(new Sample(unit == null ? name : name + "_" + unit, labels, gauge.value()));
    }
  }
}
