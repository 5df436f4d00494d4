package dev.fencepost.rabbit;

import com.rabbitmq.client.WriteListener;
import com.rabbitmq.client.impl.SocketFrameHandler;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * A frame handler whose writers may hold the flush back over a batch: the client flushes after
 * every command, one system call a message; corked, frames leave when its buffer of 8 KiB is full.
 */
final class CorkedFrameHandler extends SocketFrameHandler {

  private final Socket socket;
  private final ThreadLocal<Boolean> corked = new ThreadLocal<>();

  CorkedFrameHandler(Socket socket, ExecutorService shutdownExecutor, int maxInboundBody)
      throws IOException {
    super(socket, shutdownExecutor, maxInboundBody);
    this.socket = socket;
  }

  /** Holds back the flushes of the calling thread. */
  void cork() {
    corked.set(Boolean.TRUE);
  }

  /** Ends {@link #cork()}; what is buffered stays so until the next flush. */
  void uncork() {
    corked.remove();
  }

  @Override
  public void flush(@Nullable WriteListener listener) throws IOException {
    if (listener == null && corked.get() != null) {
      return;
    }
    super.flush(listener);
  }

  /**
   * Ends the connection at once, from any thread, also while another hangs in a write: what is
   * unsent is discarded.
   */
  void kill() {
    try {
      // Zero: neither the kernel nor TLS waits for a peer that does not read.
      socket.setSoLinger(true, 0);
    } catch (IOException e) {
      // closed already
    }
    try {
      socket.close();
    } catch (IOException e) {
      // closed already
    }
  }
}
