package dev.fencepost.worker;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;

/**
 * The words in which a store's promises are told. Each test uses events of its own; time is moved,
 * never waited for.
 */
public abstract class StoreWords {
  protected static final Duration TTL = Duration.ofSeconds(30);
  protected static final Duration HARD = Duration.ofSeconds(20);
  protected static final String ME = "host-1-aaaa";
  protected static final String OTHER = "host-2-bbbb";
  protected static final ErrorInfo ERROR = new ErrorInfo("Boom", "it broke", "a cause");

  /** Without its cause, which no log line names. */
  protected static final ErrorInfo ERROR_AS_TOLD = new ErrorInfo("Boom", "it broke", null);

  private static int counter;

  @BeforeEach
  void listen() {
    store().onDeadLetter(told::add);
  }

  /** The dead letters that the store has told of, of this test. */
  protected List<DeadLettered> told() {
    return told.stream().filter(letter -> letter.id().consumer().equals(consumer)).toList();
  }

  /** A consumer of this test only. */
  protected final String consumer = "consumer-" + System.nanoTime() + "-" + ++counter;

  private final Map<ActivityId, Delivery.Envelope> messages = new HashMap<>();
  private final List<DeadLettered> told = new CopyOnWriteArrayList<>();
  private int events;

  protected abstract ActivityStore store();

  /** Lets time pass for everything that is stored. */
  protected abstract void elapse(Duration time);

  /** What is stored of an activity, or null. */
  protected abstract Seen seen(ActivityId id);

  /**
   * @param attempts counted starts
   * @param receipt null when there is none
   * @param outcomes of all attempts that have ended, in the order of their fences
   * @param deadLetters reasons, with their bodies
   * @param audit actions, in order
   */
  public record Seen(
      ActivityState state,
      int attempts,
      int retries,
      int redeliveries,
      long fence,
      boolean awaitingMessage,
      ReceiptOutcome receipt,
      List<AttemptOutcome> outcomes,
      List<Dead> deadLetters,
      List<String> audit) {
    public record Dead(DeadLetterReason reason, int attempts, String body) {}
  }

  protected static Claim.Work work(ActivityKind kind) {
    return new Claim.Work("t", kind, 4, 3, TTL);
  }

  protected Claim.Request request() {
    return request(ActivityKind.IDEMPOTENT);
  }

  protected Claim.Request request(ActivityKind kind) {
    return request(kind, null);
  }

  protected Claim.Request keyed(String key) {
    return request(ActivityKind.IDEMPOTENT, key);
  }

  protected Claim.Request request(ActivityKind kind, String key) {
    String id = "event-" + (events + 1);
    return request(
        kind,
        key,
        new Delivery.Envelope(
            "orders",
            "order.placed",
            Map.of("message_id", id, "type", "t", "priority", 3),
            Map.of(
                "int", 1, "long", 1L << 40, "double", 1.5, "flag", true, "list", List.of("a", 2)),
            ("{\"id\":\"" + id + "\"}").getBytes(StandardCharsets.UTF_8),
            null));
  }

  protected Claim.Request request(ActivityKind kind, String key, Delivery.Envelope envelope) {
    ActivityId id = new ActivityId(consumer, "event-" + ++events);
    messages.put(id, envelope);
    return new Claim.Request(id, work(kind), key, false, envelope);
  }

  protected static Claim.Request redelivered(Claim.Request r) {
    return new Claim.Request(r.id(), r.work(), r.key(), true, r.envelope());
  }

  protected Claim.Answer claim(Claim.Request request) {
    return result(store().claim(ME, List.of(request))).get(0);
  }

  protected Claim.Ticket start(Claim.Request request) {
    return start(request, ME);
  }

  protected Claim.Ticket start(Claim.Request request, String owner) {
    Claim.Answer answer = result(store().claim(owner, List.of(request))).get(0);
    assertThat(answer).isInstanceOf(Claim.Started.class);
    return ((Claim.Started) answer).ticket();
  }

  protected Settlement settlement(Claim.Ticket ticket, Settlement.How how) {
    return new Settlement(ticket, how, messages.get(ticket.id()));
  }

  protected boolean settle(String owner, Claim.Ticket ticket, Settlement.How how) {
    return result(store().settle(owner, List.of(settlement(ticket, how)))).get(0);
  }

  protected boolean complete(Claim.Ticket ticket) {
    return complete(ME, ticket);
  }

  protected boolean complete(String owner, Claim.Ticket ticket) {
    return result(
            store()
                .settle(
                    owner,
                    List.of(
                        new Settlement(
                            ticket, new Settlement.Completed(Receipt.succeeded()), null))))
        .get(0);
  }

  protected static Settlement.RunAgain again(
      AttemptOutcome outcome, Duration delay, boolean countsRetry) {
    return new Settlement.RunAgain(outcome, delay, countsRetry, ERROR);
  }

  protected static Settlement.RunAgain again(
      AttemptOutcome outcome, Duration delay, boolean countsRetry, String message) {
    return new Settlement.RunAgain(outcome, delay, countsRetry, new ErrorInfo("E", message, null));
  }

  protected static AttemptOutcome failedTransiently() {
    return AttemptOutcome.TRANSIENT_FAILURE;
  }

  protected static AttemptOutcome failed() {
    return AttemptOutcome.PERMANENT_FAILURE;
  }

  protected static DeadLetterReason permanent() {
    return DeadLetterReason.PERMANENT_FAILURE;
  }

  protected List<Claim.Due> due(String owner) {
    return due(owner, 10);
  }

  protected List<Claim.Due> due(String owner, int free) {
    Claim.Work work = work(ActivityKind.IDEMPOTENT);
    return result(
        store().claimDue(owner, consumer, Map.of("t", new ActivityStore.Slots(work, free))));
  }

  protected Claim.Due suspect(String owner) {
    Claim.Work work = work(ActivityKind.IDEMPOTENT);
    Claim.Due due = result(store().claimSuspect(owner, consumer, Map.of("t", work)));
    assertThat(due).isNotNull();
    return due;
  }

  protected Evidence expired(Claim.Request request) {
    return result(store().expired(consumer, null, 100)).stream()
        .filter(e -> e.id().equals(request.id()))
        .findFirst()
        .orElseThrow();
  }

  protected void recover(String owner, RecoveryDecision decision, Claim.Request request) {
    assertThat(result(store().recover(owner, expired(request), decision, request.envelope())))
        .isTrue();
  }

  protected boolean probed(
      ActivityStore.Hold hold,
      RecoveryDecision decision,
      Receipt receipt,
      Delivery.Envelope envelope) {
    return result(
        store()
            .settleProbed(
                ME,
                hold.ticket(),
                new ActivityStore.Probed(decision, receipt, "the remote says so", Duration.ZERO),
                envelope));
  }

  protected static String text(Delivery.Envelope envelope) {
    return new String(envelope.body(), StandardCharsets.UTF_8);
  }

  protected static void assertSameMessage(Delivery.Envelope actual, Delivery.Envelope expected) {
    assertThat(actual.exchange()).isEqualTo(expected.exchange());
    assertThat(actual.routingKey()).isEqualTo(expected.routingKey());
    assertThat(actual.properties()).isEqualTo(expected.properties());
    assertThat(actual.headers()).isEqualTo(expected.headers());
    assertThat(actual.body()).isEqualTo(expected.body());
  }
}
