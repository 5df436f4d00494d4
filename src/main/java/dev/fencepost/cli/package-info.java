/**
 * The commands (contract §1): options in, lines and exit codes out. What they do is done in {@code
 * boot} and {@code operations}; nothing here knows SQL or AMQP.
 *
 * <p>Promises: results go to standard output, everything else to standard error; a failure is one
 * line and an exit code ({@link dev.fencepost.cli.ExitCode}); a stack trace needs {@code
 * --verbose}. Imports {@code boot} and what that may import. State: none beyond the run of a
 * command.
 */
package dev.fencepost.cli;
