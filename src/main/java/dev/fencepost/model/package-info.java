/**
 * The values everything speaks in: outbox rows, deliveries, activities, leases, outcomes and the
 * closed sets of the contract. Immutable, no I/O, no clock; imports nothing of Fencepost.
 */
package dev.fencepost.model;
