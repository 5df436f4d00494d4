/**
 * The configuration as immutable records with every default, the YAML loader, and the rules across
 * keys that list every fault at once. Imports only {@code model}.
 */
package dev.fencepost.config;
