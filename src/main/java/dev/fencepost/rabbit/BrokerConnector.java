package dev.fencepost.rabbit;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultSaslConfig;
import com.rabbitmq.client.impl.FrameHandler;
import com.rabbitmq.client.impl.FrameHandlerFactory;
import com.rabbitmq.client.impl.SocketFrameHandlerFactory;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.SocketFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs in to the first broker of a list that takes us. Blocks: never on an event loop. */
final class BrokerConnector {

  private static final Logger LOG = LoggerFactory.getLogger(BrokerConnector.class);
  private static final int CONNECT_MILLIS = 5_000;
  private static final int HANDSHAKE_MILLIS = 10_000;
  private static final int RPC_MILLIS = 10_000;
  private static final int HEARTBEAT_SECONDS = 10;

  /** The largest body that any RabbitMQ can be told to accept. */
  private static final int MAX_INBOUND_BODY = 512 << 20;

  private final Vertx vertx;
  private final BrokerThreads threads;
  private final List<BrokerUri> uris;

  /** Where the next attempt starts: the last that worked, or the one after the last that failed. */
  private final AtomicInteger next = new AtomicInteger();

  BrokerConnector(Vertx vertx, BrokerThreads threads, List<BrokerUri> uris) {
    this.vertx = vertx;
    this.threads = threads;
    this.uris = List.copyOf(uris);
  }

  /**
   * @param name shown by the broker's own tools
   * @throws FencepostException of kind BROKER_AUTHENTICATION when one of the brokers refused the
   *     login, CONFIGURATION for unusable TLS files, else BROKER_UNREACHABLE
   */
  BrokerConnection connect(String name) {
    FencepostException worst = null;
    for (int i = 0; i < uris.size(); i++) {
      int index = Math.floorMod(next.get(), uris.size());
      try {
        return connect(uris.get(index), name);
      } catch (FencepostException e) {
        LOG.debug("{}", e.getMessage());
        next.compareAndSet(index, index + 1);
        worst = worst == null || e.kind() != FailureKind.BROKER_UNREACHABLE ? e : worst;
      }
    }
    throw worst == null
        ? new FencepostException(FailureKind.CONFIGURATION, "broker.uris is empty")
        : worst;
  }

  private BrokerConnection connect(BrokerUri uri, String name) {
    Factory factory = new Factory(uri);
    try {
      Connection connection = factory.newConnection(threads.blocking(), name);
      return new BrokerConnection(connection, factory.handler(), uri);
    } catch (Exception e) {
      factory.abandon();
      throw RabbitErrors.ofConnect(e, uri);
    }
  }

  /** One login: remembers the frame handler, which alone can end a hung connection. */
  private final class Factory extends ConnectionFactory {

    private final BrokerUri uri;
    private @Nullable CorkedFrameHandler handler;

    Factory(BrokerUri uri) {
      this.uri = uri;
      setHost(uri.endpoint().host());
      setPort(uri.endpoint().port());
      setUsername(uri.login().user());
      setPassword(uri.login().password());
      setVirtualHost(uri.login().vhost());
      setAutomaticRecoveryEnabled(false);
      setTopologyRecoveryEnabled(false);
      setConnectionTimeout(uri.parameter("connection_timeout", CONNECT_MILLIS));
      setHandshakeTimeout(HANDSHAKE_MILLIS);
      setChannelRpcTimeout(RPC_MILLIS);
      setRequestedHeartbeat(uri.parameter("heartbeat", HEARTBEAT_SECONDS));
      setThreadFactory(threads.factory());
      setExceptionHandler(new ClientFaults());
      if ("external".equalsIgnoreCase(uri.parameter("auth_mechanism"))) {
        setSaslConfig(DefaultSaslConfig.EXTERNAL);
      }
    }

    CorkedFrameHandler handler() {
      if (handler == null) {
        throw new IllegalStateException("no connection was made");
      }
      return handler;
    }

    void abandon() {
      if (handler != null) {
        handler.kill();
      }
    }

    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // keeps no state of its own
    protected FrameHandlerFactory createFrameHandlerFactory() {
      SocketFactory sockets =
          uri.tls() ? BrokerTls.context(uri, vertx).getSocketFactory() : SocketFactory.getDefault();
      return new SocketFrameHandlerFactory(
          getConnectionTimeout(), sockets, this::configure, uri.tls(), threads.blocking()) {
        @Override
        public FrameHandler create(Socket socket) throws IOException {
          CorkedFrameHandler made =
              new CorkedFrameHandler(socket, threads.blocking(), MAX_INBOUND_BODY);
          handler = made;
          return made;
        }
      };
    }

    private void configure(Socket socket) throws IOException {
      socket.setTcpNoDelay(true);
      if (socket instanceof SSLSocket tls) {
        SSLParameters parameters = tls.getSSLParameters();
        if (BrokerTls.verified(uri)) {
          parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        String name = uri.parameter("server_name_indication");
        if (name != null) {
          parameters.setServerNames(
              name.equals("disable") ? List.of() : List.of(new SNIHostName(name)));
        }
        tls.setSSLParameters(parameters);
      }
    }
  }
}
