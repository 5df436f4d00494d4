/**
 * Traces (OpenTelemetry) through the outbox: the {@code traceparent} among a row's headers is the
 * parent of a span for its publication, that of the message is the parent of a span for each run,
 * and the handler is given the run's. Decorates the ports of relay and worker; turned off there is
 * nothing of it in the way of an event.
 *
 * <p>May import {@code relay}, {@code worker}, {@code config}, {@code api}, {@code model}. State:
 * the spans of what is unconfirmed, by channel, confined to its context.
 */
package dev.fencepost.tracing;
