package dev.fencepost.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/** The names of figures, and how the tables head them. */
final class Figures {

  static final String RATE = "rate";
  static final String DELIVERIES = "deliveries_rate";
  static final String COST = "own_and_postgres_cpu_us";
  static final String OWN = "own_cpu_us";
  static final String POSTGRES = "postgres_cpu_us";
  static final String BROKER = "broker_cpu_us";
  static final String STATEMENTS = "statements";
  static final String MEMORY = "memory_mib";
  static final String P50 = "p50_ms";
  static final String P99 = "p99_ms";
  static final String P999 = "p999_ms";

  private static final Map<String, String> HEADS = new LinkedHashMap<>();

  static {
    HEADS.put(RATE, "messages/s");
    HEADS.put(DELIVERIES, "deliveries/s");
    HEADS.put(P50, "p50 ms");
    HEADS.put(P99, "p99 ms");
    HEADS.put(P999, "p99.9 ms");
    HEADS.put(OWN, "own CPU µs");
    HEADS.put(POSTGRES, "PostgreSQL CPU µs");
    HEADS.put(COST, "own + PostgreSQL CPU µs");
    HEADS.put(BROKER, "broker CPU µs");
    HEADS.put(STATEMENTS, "statements");
    HEADS.put(MEMORY, "memory MiB");
  }

  private Figures() {}

  static String head(String figure) {
    return HEADS.getOrDefault(figure, figure.replace('_', ' '));
  }

  /** The order of columns. */
  static Iterable<String> known() {
    return HEADS.keySet();
  }

  /** Rate and CPU time per message between two moments. */
  static Map<String, Double> between(Moment from, Moment to) {
    if (from.count() == to.count()) {
      throw new IllegalStateException("both points were passed at one look, at " + to.count());
    }
    return of(
        Math.abs(to.count() - from.count()),
        to.nanos() - from.nanos(),
        to.cpu().minus(from.cpu()));
  }

  /** Rate and CPU time per message. */
  static Map<String, Double> of(double messages, long nanos, Contender.Cpu cpu) {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(RATE, messages * 1e9 / nanos);
    figures.put(OWN, cpu.own() * 1e6 / messages);
    figures.put(POSTGRES, cpu.postgres() * 1e6 / messages);
    figures.put(BROKER, cpu.broker() * 1e6 / messages);
    return figures;
  }

  /** The same with what its own process and PostgreSQL cost together. */
  static Map<String, Double> withCost(Map<String, Double> figures) {
    figures.put(COST, figures.get(OWN) + figures.get(POSTGRES));
    return figures;
  }

  /** The same where each message goes to several queues. */
  static Map<String, Double> between(Moment from, Moment to, int copies) {
    Map<String, Double> figures = between(from, to);
    if (copies > 1) {
      figures.put(DELIVERIES, figures.get(RATE) * copies);
    }
    return figures;
  }

  /** A count of messages and the CPU time used until then. */
  record Moment(long nanos, long count, Contender.Cpu cpu) {}
}
