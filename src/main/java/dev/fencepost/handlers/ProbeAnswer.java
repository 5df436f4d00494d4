package dev.fencepost.handlers;

import dev.fencepost.api.ProbeResult;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;

/** What a probe's answer says: only what is certain counts, all else is unknown. */
final class ProbeAnswer {
  private ProbeAnswer() {}

  static ProbeResult of(HttpExchange.Answer answer) {
    if (answer.status() == 404) {
      return ProbeResult.neverHappened();
    }
    if (answer.status() != 200) {
      return ProbeResult.unknown("the probe answers " + answer.status());
    }
    try {
      Object outcome = new JsonObject(answer.body()).getValue("outcome");
      if ("succeeded".equals(outcome)) {
        return ProbeResult.succeeded(answer.body());
      }
      return "failed_permanent".equals(outcome)
          ? ProbeResult.failedPermanently(answer.body())
          : ProbeResult.unknown("the probe's outcome is neither succeeded nor failed_permanent");
    } catch (DecodeException e) {
      return ProbeResult.unknown("the probe's answer is not a JSON object");
    }
  }
}
