/**
 * A PostgreSQL and an AMQP 0-9-1 broker that need no set-up, for the demo: real servers on free
 * loopback ports, gone without a trace when closed. Their libraries are optional dependencies, used
 * in this room only; imports {@code model}.
 */
package dev.fencepost.embedded;
