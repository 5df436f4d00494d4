package dev.fencepost.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a client and a server and breaks what is between them: cuts connections, refuses
 * new ones, holds bytes in one or both directions, delays and slows them.
 */
public final class TcpProxy implements AutoCloseable {

  /** Which way bytes go. */
  public enum Direction {
    /** From the client to the server. */
    REQUESTS,
    /** From the server to the client. */
    ANSWERS
  }

  private final InetSocketAddress target;
  private final int port = Ports.free();
  private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private final ProxyLine requests = new ProxyLine();
  private final ProxyLine answers = new ProxyLine();
  private final Object listening = new Object();
  private ServerSocket listener;
  private Thread acceptor;

  private TcpProxy(InetSocketAddress target) {
    this.target = target;
  }

  /** A proxy in front of a port of this machine, accepting connections. */
  public static TcpProxy to(int targetPort) {
    TcpProxy proxy =
        new TcpProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort));
    proxy.accept();
    return proxy;
  }

  /** A proxy in front of the host and port of a URI. */
  public static TcpProxy to(String uri) {
    URI parsed = URI.create(uri);
    TcpProxy proxy = new TcpProxy(new InetSocketAddress(parsed.getHost(), parsed.getPort()));
    proxy.accept();
    return proxy;
  }

  public int port() {
    return port;
  }

  /** The same URI by way of this proxy. */
  public String uri(String uri) {
    URI parsed = URI.create(uri);
    return uri.replaceFirst(
        parsed.getHost() + ":" + parsed.getPort(),
        InetAddress.getLoopbackAddress().getHostAddress() + ":" + port);
  }

  /** Connections that are open now. */
  public int connections() {
    return connections.size();
  }

  /** Connections accepted since the start. */
  public int accepted() {
    return accepted.get();
  }

  /** Resets every open connection on both sides; bytes held are lost. New ones are accepted. */
  public synchronized void cut() {
    connections.forEach(ProxiedConnection::reset);
    connections.clear();
  }

  /** New connections are refused; open ones go on. */
  public void refuse() {
    synchronized (listening) {
      if (listener == null) {
        return;
      }
      try {
        listener.close();
        // The port takes connections as long as its thread is still in the call.
        acceptor.join();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      listener = null;
    }
  }

  /** New connections are accepted again. */
  public void accept() {
    synchronized (listening) {
      if (listener != null) {
        return;
      }
      try {
        ServerSocket opened = new ServerSocket();
        opened.setReuseAddress(true);
        opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        listener = opened;
        acceptor = thread("proxy-" + port, () -> acceptLoop(opened));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Half-open: connections stay up and new ones open, but no byte passes either way. */
  public void freeze() {
    freeze(Direction.REQUESTS);
    freeze(Direction.ANSWERS);
  }

  /** No byte passes in one direction; what is sent meanwhile is held. */
  public void freeze(Direction direction) {
    line(direction).freeze(true);
  }

  /** What was held goes on its way. */
  public void thaw() {
    requests.freeze(false);
    answers.freeze(false);
  }

  /** Every byte arrives later by this, in each direction. */
  public void delay(Duration delay) {
    requests.delay(delay);
    answers.delay(delay);
  }

  /** At most so many bytes a second and connection in each direction; 0 lifts it. */
  public void throttle(long bytesPerSecond) {
    requests.throttle(bytesPerSecond);
    answers.throttle(bytesPerSecond);
  }

  @Override
  public void close() {
    refuse();
    cut();
    thaw();
  }

  private ProxyLine line(Direction direction) {
    return direction == Direction.REQUESTS ? requests : answers;
  }

  private void acceptLoop(ServerSocket socket) {
    while (true) {
      try {
        open(socket.accept());
      } catch (IOException e) {
        return;
      }
    }
  }

  private void open(Socket client) {
    accepted.incrementAndGet();
    Socket server = new Socket();
    try {
      server.connect(target, 5_000);
    } catch (IOException e) {
      // A client must not take the proxy's accept for the server's.
      ProxiedConnection.reset(client);
      return;
    }
    ProxiedConnection connection = new ProxiedConnection(client, server);
    synchronized (this) {
      connections.add(connection);
    }
    connection.start(requests, answers, () -> connections.remove(connection));
  }

  static Thread thread(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
