package dev.fencepost.operations;

import java.util.List;
import java.util.Map;

/** Port: this process's metrics as numbers, for the console. */
public interface LiveMetrics {

  List<Sample> samples();

  /**
   * @param name as Prometheus has it (contract §5); timers as {@code …_count}, {@code …_sum},
   *     {@code …_max}
   */
  record Sample(String name, Map<String, String> labels, double value) {}
}
