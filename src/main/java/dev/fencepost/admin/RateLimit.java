package dev.fencepost.admin;

import io.vertx.ext.web.RoutingContext;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** A token bucket per remote address. Confined to the server's context. */
final class RateLimit {
  /** Addresses remembered; the one unseen for longest goes first. */
  private static final int ADDRESSES = 1024;

  /**
   * @param perSecond refill
   * @param burst how many at once
   */
  record Rate(double perSecond, double burst) {
    static final Rate REQUESTS = new Rate(50, 200);

    /** Wrong tokens: a guesser gets one a second. */
    static final Rate FAILURES = new Rate(1, 10);
  }

  private static final class Bucket {
    double tokens;
    long at;
  }

  private final Rate rate;
  private final LongSupplier nanoTime;
  private final Map<String, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true);

  RateLimit(Rate rate, LongSupplier nanoTime) {
    this.rate = rate;
    this.nanoTime = nanoTime;
  }

  void check(RoutingContext context) {
    if (take(context.request().remoteAddress().hostAddress())) {
      context.next();
    } else {
      Problem.send(context, 429, "too_many_requests", "too many requests from this address");
    }
  }

  /** Whether one more is allowed now. */
  boolean take(String address) {
    Bucket bucket = refilled(address);
    if (bucket.tokens < 1) {
      return false;
    }
    bucket.tokens -= 1;
    return true;
  }

  private Bucket refilled(String address) {
    long now = nanoTime.getAsLong();
    Bucket bucket = buckets.get(address);
    if (bucket == null) {
      bucket = new Bucket();
      bucket.tokens = rate.burst();
      bucket.at = now;
      forgetOldest();
      buckets.put(address, bucket);
    }
    double refill = (now - bucket.at) / 1e9 * rate.perSecond();
    bucket.tokens = Math.min(rate.burst(), bucket.tokens + refill);
    bucket.at = now;
    return bucket;
  }

  private void forgetOldest() {
    Iterator<String> eldest = buckets.keySet().iterator();
    if (buckets.size() >= ADDRESSES && eldest.hasNext()) {
      eldest.next();
      eldest.remove();
    }
  }
}
