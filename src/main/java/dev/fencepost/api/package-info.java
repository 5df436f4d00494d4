/**
 * What users compile against: the only package with a compatibility promise. Interfaces and values;
 * what must be started is found by {@link java.util.ServiceLoader}. Imports only {@code model},
 * Vert.x core and its SQL client.
 */
package dev.fencepost.api;
