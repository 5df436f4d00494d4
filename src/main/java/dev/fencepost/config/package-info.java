/**
 * The configuration (contract §3) as immutable records with every default, the YAML loader, and
 * what a reload may change. A file is either sound as a whole or refused with every fault at once;
 * no fault and no {@code toString} shows a secret. Each section's reader holds the defaults, the
 * bounds and the rules of its keys. Also here: the form of {@code sql} handlers, so that their
 * parameters are checked with everything else.
 *
 * <p>Imports only {@code model}. State: none; a reading gathers its faults and ends.
 */
package dev.fencepost.config;
