/**
 * From delivery to acknowledgement: decode, admit, claim, run, settle, ack; leases, retries,
 * recovery, progress. What it needs of PostgreSQL and RabbitMQ stands in ports; imports {@code
 * flow}, {@code api}, {@code decide}, {@code model}, {@code config}.
 *
 * <p>Promises: a start is counted before it runs; an outcome is settled once; a delivery is
 * acknowledged after its outcome is durable and never before; a lost lease changes nothing; an
 * outage costs no attempt.
 *
 * <p>A {@code Job} is waiting (for its turn by key, then for a slot) → claimed (its lease is held
 * and renewed) → running → settling → finished; one that is held or expired elsewhere gives its
 * slot back and asks again or is stored. A {@code Run} is open → returned, or → closed, when it is
 * given up and its slot is leaked until its handler returns. All state is confined to one context.
 */
package dev.fencepost.worker;
