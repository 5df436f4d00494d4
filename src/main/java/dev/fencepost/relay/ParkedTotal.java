package dev.fencepost.relay;

/**
 * How many rows are parked in all lanes of all processes, as of the last renewal and of what was
 * parked here since.
 */
public final class ParkedTotal {
  private final long most;
  private long rows;

  public ParkedTotal(long most) {
    this.most = most;
  }

  void set(long total) {
    rows = total;
  }

  void add(int more) {
    rows += more;
  }

  boolean full() {
    return room() == 0;
  }

  long room() {
    return Math.max(0, most - rows);
  }
}
