package dev.fencepost.handlers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityHandler;
import dev.fencepost.decide.FailureClasses;
import dev.fencepost.decide.SpecCsv;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.RunEvent;
import dev.fencepost.model.RunFailure;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.TcpProxy;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.SelfSignedCertificate;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each event of spec/failure-classes.csv that a call can end in, made to happen for real. */
class HttpFailureTableTest {
  private final Remote remote = Remote.start(HttpFixture.VERTX);
  private final HttpFixture fixture = new HttpFixture();

  static List<String> eventsOfCalls() {
    return SpecCsv.rows("failure-classes.csv").stream()
        .map(row -> row.get("event"))
        .filter(
            event ->
                event.startsWith("http_")
                    || event.startsWith("connection_")
                    || List.of("name_not_resolved", "tls_handshake_failed").contains(event)
                    || event.equals("no_answer_by_hard_limit"))
        .distinct()
        .toList();
  }

  @AfterEach
  void close() {
    remote.close();
    fixture.close();
  }

  @ParameterizedTest
  @MethodSource("eventsOfCalls")
  void happensAndIsClassedAsTheTableSays(String wire) throws Exception {
    RunFailure failure = produce(RunEvent.ofWire(wire));

    assertThat(failure.event().wire()).isEqualTo(wire);
    for (Map<String, String> row : SpecCsv.rows("failure-classes.csv")) {
      if (row.get("event").equals(wire) && !row.get("kind").equals("effect")) {
        ActivityKind kind = ActivityKind.ofWire(row.get("kind"));
        assertThat(FailureClasses.classify(kind, failure.event()).wire())
            .as(row.toString())
            .isEqualTo(row.get("class"));
      }
    }
  }

  private RunFailure produce(RunEvent event) throws Exception {
    return switch (event) {
      case CONNECTION_REFUSED -> fail("http://127.0.0.1:1/", Duration.ofSeconds(5));
      case NAME_NOT_RESOLVED -> fail("http://no-such-host.invalid/", Duration.ofSeconds(20));
      case TLS_HANDSHAKE_FAILED -> selfSigned();
      case CONNECTION_LOST_AFTER_SEND -> {
        remote.does(request -> request.connection().close());
        yield fail(remote.url("/"), Duration.ofSeconds(5));
      }
      case NO_ANSWER_BY_HARD_LIMIT -> {
        remote.does(request -> {});
        yield fail(remote.url("/"), Duration.ofMillis(200));
      }
      default -> {
        remote.answers(Integer.parseInt(event.wire().substring("http_".length())), "");
        yield fail(remote.url("/"), Duration.ofSeconds(5));
      }
    };
  }

  private RunFailure selfSigned() {
    HttpServerOptions tls =
        new HttpServerOptions()
            .setSsl(true)
            .setKeyCertOptions(SelfSignedCertificate.create().keyCertOptions());
    try (Remote untrusted = Remote.start(HttpFixture.VERTX, tls, 0)) {
      RunFailure failure =
          fail("https://127.0.0.1:" + untrusted.port() + "/", Duration.ofSeconds(5));
      assertThat(untrusted.seen).isEmpty();
      return failure;
    }
  }

  @Test
  void plainHttpBehindHttpsIsAFailedHandshake() {
    assertThat(fail("https://127.0.0.1:" + remote.port() + "/", Duration.ofSeconds(5)).event())
        .isEqualTo(RunEvent.TLS_HANDSHAKE_FAILED);
    assertThat(remote.seen).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {300, 301, 302, 304, 307, 308, 401, 403, 405, 410, 413, 418, 451})
  void otherStatusesThatRepetitionDoesNotMendArePermanent(int status) {
    remote.answers(status, "");
    assertThat(fail(remote.url("/"), Duration.ofSeconds(5)).event()).isEqualTo(RunEvent.HTTP_400);
  }

  @ParameterizedTest
  @ValueSource(ints = {501, 505, 507, 511, 520, 599})
  void otherServerErrorsAreAs500(int status) {
    remote.answers(status, "");
    assertThat(fail(remote.url("/"), Duration.ofSeconds(5)).event()).isEqualTo(RunEvent.HTTP_500);
  }

  @Test
  void aConnectionThatIsCutWhileTheRequestWaitsIsLostAfterTheSend() throws Exception {
    remote.does(request -> {});
    try (TcpProxy proxy = TcpProxy.to(remote.port())) {
      ActivityHandler handler =
          fixture.handler("http://127.0.0.1:" + proxy.port() + "/", Duration.ofSeconds(20));
      Future<?> run = HttpFixture.onContext(() -> handler.run(FakeContext.of("e", "x")));
      Await.until("the request has come", () -> remote.seen.size() == 1);
      proxy.cut();

      assertThat(event(run)).isEqualTo(RunEvent.CONNECTION_LOST_AFTER_SEND);
    }
  }

  @Test
  void anAnswerThatIsNoHttpIsLostAfterTheSend() throws Exception {
    try (ServerSocket strange = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread answering =
          new Thread(
              () -> {
                try (Socket client = strange.accept()) {
                  client.getInputStream().read(new byte[1_024]);
                  client.getOutputStream().write("220 smtp ready\r\n\r\n".getBytes());
                  client.getOutputStream().flush();
                } catch (java.io.IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              });
      answering.start();
      assertThat(fail("http://127.0.0.1:" + strange.getLocalPort(), Duration.ofSeconds(5)).event())
          .isEqualTo(RunEvent.CONNECTION_LOST_AFTER_SEND);
      answering.join();
    }
  }

  @Test
  void aHostThatDoesNotAcceptIsToldFromOneThatDoesNotAnswer() throws Exception {
    List<Socket> filling = new ArrayList<>();
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      for (int i = 0; i < 4; i++) { // more than the backlog: further SYNs are dropped
        Socket socket = new Socket();
        filling.add(socket);
        try {
          socket.connect(full.getLocalSocketAddress(), 200);
        } catch (java.net.SocketTimeoutException e) {
          break;
        }
      }
      assertThat(fail("http://127.0.0.1:" + full.getLocalPort() + "/", Duration.ofMillis(400)))
          .satisfies(f -> assertThat(f.event()).isEqualTo(RunEvent.CONNECTION_REFUSED));
    } finally {
      for (Socket socket : filling) {
        socket.close();
      }
    }
  }

  private RunFailure fail(String url, Duration hard) {
    ActivityHandler handler = fixture.handler(url, hard);
    Future<?> run = HttpFixture.onContext(() -> handler.run(FakeContext.of("e", "x")));
    return failure(run);
  }

  private static RunEvent event(Future<?> run) {
    return failure(run).event();
  }

  private static RunFailure failure(Future<?> run) {
    return (RunFailure) Await.failure(run);
  }
}
