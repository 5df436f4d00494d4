/**
 * What the tests of every room stand on: real servers of their own, a proxy that breaks
 * connections, second JVMs that can be killed, and waiting for conditions instead of sleeping.
 *
 * <p>Nothing here is shared with other programs of the machine: every server has its own loopback
 * port, folder and processes, and goes when the JVM does, even when that is killed.
 */
package dev.fencepost.testing;
