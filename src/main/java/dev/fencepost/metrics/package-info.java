/**
 * What the relay and the worker tell, as metrics under the names of contract §5: Prometheus text,
 * MBeans, and numbers for the console. Labels come from the configuration only; what it does not
 * name is {@code other}. Nothing here asks the database.
 *
 * <p>May import {@code relay}, {@code worker}, {@code operations}, {@code config}, {@code model}.
 * State: meters, made once at start and looked up by queue and type; counts since the process
 * started, and the last value told of each gauge.
 */
package dev.fencepost.metrics;
