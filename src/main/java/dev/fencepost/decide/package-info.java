/**
 * Every decision of the product, as static pure functions: the same evidence always gives the same
 * answer. Clock readings and random numbers are passed in; nothing here does I/O, logs, waits or
 * remembers. Imports only {@code model}.
 *
 * <p>The tables in {@code src/test/resources/spec} are the expectation: {@link
 * dev.fencepost.decide.RecoveryTable}, {@link dev.fencepost.decide.RetryPolicy} and {@link
 * dev.fencepost.decide.FailureClasses} are compared with them as they are.
 */
package dev.fencepost.decide;
