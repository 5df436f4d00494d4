/**
 * What operators may ask: status, activities, reviews, dead letters, parked rows, replay. Use cases
 * are plain classes over ports; commands and HTTP both call them, so that both give the same
 * answers. Every input is checked here and nowhere else.
 *
 * <p>Rows are shown as the contract's views have them ({@link dev.fencepost.operations.ViewRow}): a
 * column that is added to a view is shown without a change here. What changes something goes
 * through a port of its own ({@link dev.fencepost.operations.ReviewStore}, {@link
 * dev.fencepost.operations.DeadLetterChanges}, {@link dev.fencepost.operations.ParkedRequests},
 * {@link dev.fencepost.operations.ReplayStore}), names its operator, and is appended to the audit
 * log by the store in the same transaction.
 *
 * <p>State: none is kept; each call reads anew. Imports {@code decide}, {@code model}, {@code
 * config}, {@code flow}.
 */
package dev.fencepost.operations;
