/**
 * HTTP for operators (contract §4): health, metrics, API, console. Translates requests into the use
 * cases of {@code operations} and answers into JSON; errors are RFC 9457 problems.
 *
 * <p>Promises: nothing changes by GET; a change needs JSON, the token (or loopback where no token
 * is set) and, from a browser, this very origin; no secret and no stack trace leaves; every call
 * has a deadline and a bound on its size and rate.
 *
 * <p>State: one verticle owns the server, the rate limits and the static files; nothing else is
 * kept. Imports {@code operations}, {@code model}, {@code config}.
 */
package dev.fencepost.admin;
