/**
 * Measures the product as users run it, in a process of its own, beside its peers and beside the
 * broker's own limit. Never a dependency of the product.
 */
package dev.fencepost.bench;
