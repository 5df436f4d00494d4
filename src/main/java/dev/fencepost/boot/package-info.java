/**
 * The only composition root: puts the rooms together into a running service, a schema, the demo and
 * the sessions that commands work in; finds what {@code api} promises by {@code ServiceLoader}.
 * Imports every room but {@code cli}.
 *
 * <p>State: a {@link dev.fencepost.boot.Service} is starting, running, stopping or stopped; all
 * else is built once and handed on.
 */
package dev.fencepost.boot;
