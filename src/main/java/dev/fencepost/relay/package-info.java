/**
 * Reads the outbox and publishes it: every committed row at least once, those of one key in the
 * order of their seq, none settled without a confirm (docs/relay.md). What it needs of PostgreSQL
 * and RabbitMQ stands in ports; imports {@code decide}, {@code model}, {@code config}, {@code
 * flow}. Everything of a process is confined to one context.
 *
 * <p>States. A lane: free → owned (running → draining → stopped) → free; ownership is the lease in
 * the database, a running lane whose trust has run out only stands still. A batch: being read →
 * whole → done, the lane's batches in the order of their snapshots, each beginning where the one
 * before ends. A row in memory: {@link dev.fencepost.relay.Held.State}; it leaves memory settled,
 * that is confirmed by the broker or safe in the table of parked rows, and the cursor moves over
 * the settled prefix. A parked row: first of its key (has a time for its next attempt) or behind
 * it; gone when published, or skipped by an operator. A channel: closed → opening → open, blocked
 * or not; a fault costs no row anything.
 */
package dev.fencepost.relay;
