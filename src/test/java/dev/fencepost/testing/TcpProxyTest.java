package dev.fencepost.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TcpProxyTest {

  private ServerSocket echo;
  private Thread acceptor;
  private TcpProxy proxy;

  @BeforeEach
  void start() throws IOException {
    echo = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    acceptor = TcpProxy.thread("echo", this::serve);
    proxy = TcpProxy.to(echo.getLocalPort());
  }

  @AfterEach
  void stop() throws Exception {
    proxy.close();
    takeTargetDown();
  }

  private void takeTargetDown() throws Exception {
    echo.close();
    // The port takes connections as long as its thread is still in the call.
    acceptor.join();
  }

  private void serve() {
    try {
      while (true) {
        Socket peer = echo.accept();
        TcpProxy.thread("echo-peer", () -> echo(peer));
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  private void echo(Socket peer) {
    try (peer) {
      peer.getInputStream().transferTo(peer.getOutputStream());
    } catch (IOException e) {
      // The proxy cut it.
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
    socket.setSoTimeout(5_000);
    return socket;
  }

  private int roundTrip(Socket socket, int value) throws IOException {
    socket.getOutputStream().write(value);
    return socket.getInputStream().read();
  }

  @Test
  void passesBytesAndTheEndOfTheStream() throws IOException {
    try (Socket socket = connect()) {
      byte[] sent = new byte[300_000];
      sent[299_999] = 7;
      TcpProxy.thread("sender", () -> send(socket, sent));
      assertThat(socket.getInputStream().readAllBytes()).isEqualTo(sent);
    }
    Await.until("the connection is forgotten", () -> proxy.connections() == 0);
  }

  private void send(Socket socket, byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      socket.shutdownOutput();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void cutResetsOpenConnectionsAndTakesNewOnes() throws IOException {
    try (Socket socket = connect()) {
      assertThat(roundTrip(socket, 1)).isEqualTo(1);
      proxy.cut();
      assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
    }
    try (Socket socket = connect()) {
      assertThat(roundTrip(socket, 2)).isEqualTo(2);
    }
    assertThat(proxy.accepted()).isEqualTo(2);
  }

  @Test
  void refusesAndAcceptsOnTheSamePort() throws IOException {
    try (Socket open = connect()) {
      assertThat(roundTrip(open, 1)).isEqualTo(1);
      proxy.refuse();
      assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
      assertThat(roundTrip(open, 2)).isEqualTo(2);
      proxy.accept();
      try (Socket again = connect()) {
        assertThat(roundTrip(again, 3)).isEqualTo(3);
      }
    }
  }

  @Test
  void aTargetThatIsDownLooksLikeAReset() throws Exception {
    takeTargetDown();
    try (Socket socket = connect()) {
      assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
    }
  }

  @Test
  void holdsBytesWhileFrozenAndSendsThemAfterwards() throws IOException {
    try (Socket socket = connect()) {
      assertThat(roundTrip(socket, 1)).isEqualTo(1);
      proxy.freeze();
      socket.getOutputStream().write(2);
      socket.setSoTimeout(200);
      assertThatThrownBy(() -> socket.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
      socket.setSoTimeout(5_000);
      proxy.thaw();
      assertThat(socket.getInputStream().read()).isEqualTo(2);
    }
  }

  @Test
  void freezesOneDirectionAlone() throws IOException {
    try (ServerSocket sink = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        TcpProxy oneWay = TcpProxy.to(sink.getLocalPort());
        Socket client = new Socket(InetAddress.getLoopbackAddress(), oneWay.port());
        Socket server = sink.accept()) {
      oneWay.freeze(TcpProxy.Direction.ANSWERS);
      client.getOutputStream().write(5);
      server.setSoTimeout(5_000);
      assertThat(server.getInputStream().read()).isEqualTo(5);
      server.getOutputStream().write(6);
      client.setSoTimeout(200);
      assertThatThrownBy(() -> client.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void delaysWithoutLosingThroughput() throws IOException {
    proxy.delay(Duration.ofMillis(100));
    try (Socket socket = connect()) {
      long start = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        socket.getOutputStream().write(i);
      }
      assertThat(socket.getInputStream().readNBytes(20)).hasSize(20);
      assertThat(elapsedMillis(start)).isBetween(200L, 1_500L);
    }
  }

  @Test
  void throttles() throws IOException {
    proxy.throttle(100_000);
    try (Socket socket = connect()) {
      long start = System.nanoTime();
      TcpProxy.thread("sender", () -> send(socket, new byte[50_000]));
      assertThat(socket.getInputStream().readAllBytes()).hasSize(50_000);
      assertThat(elapsedMillis(start)).isGreaterThan(450);
    }
  }

  @Test
  void rewritesUris() {
    assertThat(proxy.uri("amqp://guest:guest@127.0.0.1:" + echo.getLocalPort() + "/v"))
        .isEqualTo("amqp://guest:guest@127.0.0.1:" + proxy.port() + "/v");
  }

  private static long elapsedMillis(long start) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }
}
