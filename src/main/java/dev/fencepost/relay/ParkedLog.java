package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells people of rows that are parked and of what becomes of them, a few of each destination in a
 * while; the others are counted, and the count is told when that while is over.
 */
final class ParkedLog {
  static final int FEW = 10;
  static final Duration WHILE = Duration.ofSeconds(30);

  private final Consumer<String> warn;
  private final Consumer<String> info;
  private final LongSupplier nanoTime;
  private final Map<String, Told> told = new HashMap<>();

  private static final class Told {
    private final Consumer<String> to;
    private final long since;
    private int lines;
    private long leftOut;

    Told(Consumer<String> to, long since) {
      this.to = to;
      this.since = since;
    }
  }

  ParkedLog(Consumer<String> warn, Consumer<String> info, LongSupplier nanoTime) {
    this.warn = warn;
    this.info = info;
    this.nanoTime = nanoTime;
  }

  /** It was parked for what it is itself, not for what stands before it. */
  void parked(OutboxRow row, ParkedReason reason, @Nullable String detail) {
    String destination = destination(row.route());
    tell(
        warn,
        "parked reason=" + reason.wire() + " exchange=" + row.route().exchange(),
        "parked"
            + named(row.eventId(), row.key(), row.at().lane())
            + " reason="
            + reason.wire()
            + destination
            + " detail="
            + detail);
  }

  void published(OutboxRow row, int refusals) {
    String destination = destination(row.route());
    tell(
        info,
        "parked row published exchange=" + row.route().exchange(),
        "parked row published"
            + named(row.eventId(), row.key(), row.at().lane())
            + destination
            + " refusals="
            + refusals);
  }

  /** What an operator asked for. */
  void carriedOut(int lane, ParkedRows.Carried carried) {
    OutboxRow.Route to = carried.to();
    info.accept(
        "parked row "
            + done(carried.action())
            + named(carried.eventId(), carried.key(), lane)
            + (to == null ? "" : destination(to))
            + " operator="
            + carried.operator());
  }

  private static String done(String action) {
    return switch (action) {
      case "skip" -> "skipped";
      case "redirect" -> "redirected";
      default -> "to be retried";
    };
  }

  /** Tells what was left out, where its while is over. */
  void flush() {
    List<String> over = new ArrayList<>();
    told.forEach(
        (about, each) -> {
          if (nanoTime.getAsLong() - each.since >= WHILE.toNanos()) {
            over.add(about);
          }
        });
    over.forEach(this::close);
  }

  private void tell(Consumer<String> to, String about, String line) {
    long now = nanoTime.getAsLong();
    Told before = told.get(about);
    if (before != null && now - before.since >= WHILE.toNanos()) {
      close(about);
    }
    Told each = told.computeIfAbsent(about, a -> new Told(to, now));
    if (each.lines < FEW) {
      each.lines++;
      to.accept(line);
    } else {
      each.leftOut++;
    }
  }

  private void close(String about) {
    Told over = told.remove(about);
    if (over != null && over.leftOut > 0) {
      over.to.accept(about + " more=" + over.leftOut);
    }
  }

  private static String named(String eventId, @Nullable String key, int lane) {
    return " event=" + eventId + " key=" + key + " lane=" + lane;
  }

  private static String destination(OutboxRow.Route route) {
    return " exchange=" + route.exchange() + " routing_key=" + route.routingKey();
  }
}
