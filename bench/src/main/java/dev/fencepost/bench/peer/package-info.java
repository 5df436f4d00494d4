/**
 * The peers, each a main class of its own with the arguments JDBC URL, broker URI and queue, set up
 * as its documentation advises for throughput.
 */
package dev.fencepost.bench.peer;
