/**
 * From delivery to acknowledgement: decode, admit, claim, run, settle, ack; leases, retries,
 * recovery, progress. What it needs of PostgreSQL and RabbitMQ stands in ports; imports {@code
 * api}, {@code decide}, {@code model}, {@code config}.
 */
package dev.fencepost.worker;
