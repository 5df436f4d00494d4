/**
 * Everything that is written in SQL: the database with deadlines and failover, migrations, and the
 * stores behind the ports of relay, worker and operations. Failures leave this room translated by
 * SQLSTATE. Imports {@code config}, {@code model}, {@code decide}, {@code api} and the ports it
 * implements; never {@code rabbit}.
 */
package dev.fencepost.pg;
