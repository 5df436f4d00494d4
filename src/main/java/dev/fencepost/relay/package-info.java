/**
 * Reads the outbox and publishes it: lanes with fenced leases, the lane loop, refusals. What it
 * needs of PostgreSQL and RabbitMQ stands in ports; imports {@code decide}, {@code model}, {@code
 * config}.
 */
package dev.fencepost.relay;
