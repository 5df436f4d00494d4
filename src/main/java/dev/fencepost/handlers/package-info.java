/**
 * The built-in handlers: {@code http} (POST, signature, probe, a circuit breaker for each remote),
 * {@code sql} (an effect with named parameters) and {@code class} (the user's own). They say what
 * happened as a {@link dev.fencepost.model.RunEvent} or by the failures of {@code api}; what it
 * means for the activity's kind is decided elsewhere.
 *
 * <p>May import {@code worker}, {@code decide}, {@code api}, {@code config}, {@code model}. State:
 * one HTTP client, and one breaker for each remote, for the process; an exchange goes from
 * connecting to sent to answered and ends once.
 */
package dev.fencepost.handlers;
