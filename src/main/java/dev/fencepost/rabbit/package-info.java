/**
 * The only room that knows AMQP 0-9-1: connections, the confirming publisher, consumers with
 * channel epochs, topology, and the translation of reply codes. It implements the ports {@code
 * relay.Publisher} and {@code worker.Deliveries} on {@code com.rabbitmq:amqp-client}, whose
 * automatic recovery is off: coming back is ours, with backoff and jitter.
 *
 * <p>State model: whatever decides ({@link dev.fencepost.rabbit.ConfirmLedger}, {@link
 * dev.fencepost.rabbit.AckLedger}) is plain and confined to the caller's context. The client's
 * threads only post events into a {@link dev.fencepost.rabbit.ContextInbox}; the context hands
 * batches to the one thread that may write to a channel. A channel's epoch ends with it: nothing of
 * an older epoch is answered to, settled or acknowledged.
 *
 * <p>May import {@code relay}, {@code worker}, {@code config}, {@code model}.
 */
package dev.fencepost.rabbit;
