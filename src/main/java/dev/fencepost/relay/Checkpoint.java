package dev.fencepost.relay;

/**
 * A cursor as it is appended to the database.
 *
 * @param fence of the lane's owner who writes it
 * @param n counts up per lane, over all owners
 * @param before the fence of checkpoint {@code n - 1}, which must be the newest
 */
public record Checkpoint(int lane, long fence, long n, long before, Cursor cursor) {

  /** The next one of the same owner or, after a takeover, of a new one. */
  Checkpoint next(long byFence, Cursor to) {
    return new Checkpoint(lane, byFence, n + 1, fence, to);
  }
}
