package dev.fencepost.testing;

import java.io.IOException;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** One connection through a {@link TcpProxy}: a reader and a writer thread for each direction. */
final class ProxiedConnection {

  private static final int CHUNK = 16 * 1024;

  /** Bounded: behind a frozen line the sender meets full buffers, as with a peer that hangs. */
  private static final int QUEUED_CHUNKS = 64;

  private final Socket client;
  private final Socket server;
  private final AtomicInteger openDirections = new AtomicInteger(2);
  private volatile boolean reset;

  ProxiedConnection(Socket client, Socket server) {
    this.client = client;
    this.server = server;
  }

  /** Bytes and when they were read; no bytes mark the end of the stream. */
  private record Chunk(byte[] bytes, long readAt) {}

  void start(ProxyLine requests, ProxyLine answers, Runnable onClose) {
    pump(client, server, requests, onClose);
    pump(server, client, answers, onClose);
  }

  void reset() {
    reset = true;
    reset(client);
    reset(server);
  }

  static void reset(Socket socket) {
    try {
      // Linger 0 makes close send a reset.
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // It was closed before.
    }
  }

  private void pump(Socket from, Socket to, ProxyLine line, Runnable onClose) {
    BlockingQueue<Chunk> queue = new ArrayBlockingQueue<>(QUEUED_CHUNKS);
    TcpProxy.thread("proxy-read-" + from.getPort(), () -> read(from, queue));
    TcpProxy.thread("proxy-write-" + to.getPort(), () -> write(to, queue, line, onClose));
  }

  private void read(Socket from, BlockingQueue<Chunk> queue) {
    byte[] buffer = new byte[CHUNK];
    try {
      while (true) {
        int length = readOrEnd(from, buffer);
        byte[] bytes = Arrays.copyOf(buffer, Math.max(length, 0));
        queue.put(new Chunk(bytes, System.nanoTime()));
        if (length < 0) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int readOrEnd(Socket from, byte[] buffer) {
    try {
      return from.getInputStream().read(buffer);
    } catch (IOException e) {
      return -1;
    }
  }

  private void write(Socket to, BlockingQueue<Chunk> queue, ProxyLine line, Runnable onClose) {
    try {
      while (true) {
        Chunk chunk = queue.take();
        line.pass(chunk.readAt(), chunk.bytes().length);
        if (chunk.bytes().length == 0) {
          break;
        }
        to.getOutputStream().write(chunk.bytes());
      }
      to.shutdownOutput();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      // The peer is gone, so its other direction is too.
      reset();
    }
    if (openDirections.decrementAndGet() == 0 || reset) {
      reset = true;
      close();
      onClose.run();
    }
  }

  private void close() {
    try {
      client.close();
      server.close();
    } catch (IOException e) {
      // Both were closed before.
    }
  }
}
