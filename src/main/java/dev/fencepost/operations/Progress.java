package dev.fencepost.operations;

/** Told now and then how far a long request has come. */
public interface Progress {
  Progress NONE = done -> {};

  void done(long items);
}
