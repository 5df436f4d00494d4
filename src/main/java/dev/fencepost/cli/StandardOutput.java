package dev.fencepost.cli;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/**
 * What commands print to. A reader that has gone away, as {@code head} does, wants no more and is
 * no failure to be told of; every other failure to write is.
 */
final class StandardOutput extends PrintWriter {
  /** What a shell says of a program that was ended for writing to a closed pipe: 128 + SIGPIPE. */
  static final int READER_GONE = 141;

  private final Pipe pipe;

  private StandardOutput(Pipe pipe) {
    super(pipe, true, StandardCharsets.UTF_8);
    this.pipe = pipe;
  }

  static StandardOutput to(OutputStream stream) {
    return new StandardOutput(new Pipe(stream));
  }

  /** Whether what could not be written was not wanted any more. */
  static boolean readerGone(PrintWriter out) {
    return out instanceof StandardOutput standard && standard.pipe.broken;
  }

  private static final class Pipe extends FilterOutputStream {
    private volatile boolean broken;

    Pipe(OutputStream to) {
      super(to);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      try {
        out.write(bytes, from, length);
      } catch (IOException e) {
        broken |= "Broken pipe".equals(e.getMessage());
        throw e;
      }
    }
  }
}
