package dev.fencepost.pg;

import dev.fencepost.pg.DatabaseUri.Ssl;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.SslMode;
import io.vertx.pgclient.impl.PgConnectionFactory;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.impl.SocketConnectionBase;
import io.vertx.sqlclient.impl.pool.SqlConnectionPool.PooledConnection;
import io.vertx.sqlclient.internal.Connection;
import io.vertx.sqlclient.internal.SqlConnectionInternal;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections with a deadline, and ends them without asking the server. The client's own ways
 * have neither: a server that accepts and never answers would hold a slot of the pool for ever.
 * Hence each connection has a factory of its own, which can be closed under it.
 */
final class PgConnector {

  /**
   * How long a session may be idle in a transaction. A frozen process must not keep the lanes that
   * others take over locked; effects set theirs.
   */
  static final String IDLE_IN_TRANSACTION = "idle_in_transaction_session_timeout";

  static final String LONGEST_IDLE = "5s";

  private static final int PIPELINING_LIMIT = 256;
  private static final int CACHED_STATEMENTS = 256;
  private static final int CACHED_STATEMENT_LENGTH = 64 * 1024;

  private final Vertx vertx;

  PgConnector(Vertx vertx) {
    this.vertx = vertx;
  }

  /** A factory that serves one connection, and knows which search for a writable host led to it. */
  private static final class Factory extends PgConnectionFactory {
    private final int generation;

    Factory(VertxInternal vertx, int generation) {
      super(vertx);
      this.generation = generation;
    }
  }

  /**
   * @return fails with {@link TimeoutException} when the server has not answered in the host's
   *     connect timeout
   */
  Future<SqlConnection> connect(
      Context context, DatabaseUri uri, String applicationName, int generation) {
    String mode = uri.ssl().mode();
    if (mode == null) {
      mode = uri.address().loopback() ? "allow" : "prefer";
    }
    Attempt attempt = new Attempt(context, uri, applicationName, generation);
    return switch (mode) {
      case "allow" -> attempt.firstThen(SslMode.DISABLE, SslMode.REQUIRE);
      case "prefer" -> attempt.firstThen(SslMode.REQUIRE, SslMode.DISABLE);
      default -> attempt.open(SslMode.of(mode));
    };
  }

  private final class Attempt {
    private final Context context;
    private final DatabaseUri uri;
    private final String applicationName;
    private final int generation;

    Attempt(Context context, DatabaseUri uri, String applicationName, int generation) {
      this.context = context;
      this.uri = uri;
      this.applicationName = applicationName;
      this.generation = generation;
    }

    /**
     * A second try is worth it only when the server answered: it may want the other mode. The plain
     * attempt's failure is the one to show, for the encrypted one may fail for want of TLS alone.
     */
    Future<SqlConnection> firstThen(SslMode first, SslMode second) {
      return open(first)
          .recover(
              failure -> {
                boolean refused =
                    first == SslMode.DISABLE
                        ? "28000".equals(PgErrors.sqlState(failure))
                        : !(failure instanceof TimeoutException)
                            && !(failure instanceof java.net.ConnectException);
                if (!refused) {
                  return Future.failedFuture(failure);
                }
                return open(second)
                    .recover(
                        other -> Future.failedFuture(first == SslMode.DISABLE ? failure : other));
              });
    }

    Future<SqlConnection> open(SslMode mode) {
      Factory factory = new Factory((VertxInternal) vertx, generation);
      Promise<SqlConnection> promise = Promise.promise();
      long millis = uri.session().connectTimeout().toMillis();
      long timer =
          vertx.setTimer(
              millis,
              id -> {
                if (promise.tryFail(new TimeoutException("no answer in " + millis + " ms"))) {
                  close(factory);
                }
              });
      factory
          .connect(context, options(uri, mode, applicationName))
          .onComplete(
              result -> {
                vertx.cancelTimer(timer);
                if (result.failed()) {
                  close(factory);
                  promise.tryFail(result.cause());
                } else if (promise.tryComplete(result.result())) {
                  adopt(factory, result.result());
                } else {
                  abort(result.result());
                }
              });
      return promise.future();
    }

    private void adopt(Factory factory, SqlConnection connection) {
      Channel channel = channel(connection);
      channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
      channel.closeFuture().addListener(closed -> close(factory));
    }

    private void close(Factory factory) {
      factory.close((done, failure) -> {});
    }
  }

  private static PgConnectOptions options(DatabaseUri uri, SslMode mode, String applicationName) {
    PgConnectOptions options =
        new PgConnectOptions()
            .setHost(uri.address().host())
            .setPort(uri.address().port())
            .setUser(uri.credentials().user())
            .setPassword(uri.credentials().password())
            .setDatabase(uri.credentials().database())
            .setPipeliningLimit(PIPELINING_LIMIT)
            .addProperty("application_name", applicationName);
    if (uri.session().pooler()) {
      options.setCachePreparedStatements(false).setUseLayer7Proxy(true);
      options.getProperties().remove("extra_float_digits"); // the client's own; refused
    } else {
      // Whatever the server's default is: an acknowledgement may follow each commit.
      options
          .setCachePreparedStatements(true)
          .setPreparedStatementCacheMaxSize(CACHED_STATEMENTS)
          .setPreparedStatementCacheSqlLimit(CACHED_STATEMENT_LENGTH)
          .addProperty("synchronous_commit", "on")
          .addProperty(IDLE_IN_TRANSACTION, LONGEST_IDLE)
          // Short statements, for which compiling costs a hundred times what they do.
          .addProperty("jit", "off");
    }
    uri.session().properties().forEach(options::addProperty);
    return options.setSslMode(mode).setSslOptions(ssl(uri.ssl(), mode));
  }

  /** As libpq: without a root certificate {@code require} encrypts but trusts any server. */
  private static ClientSSLOptions ssl(Ssl ssl, SslMode mode) {
    ClientSSLOptions options = new ClientSSLOptions();
    String root = ssl.rootCertificate();
    if (root == null) {
      options.setTrustAll(mode == SslMode.REQUIRE);
    } else {
      options.setTrustOptions(new PemTrustOptions().addCertPath(root));
    }
    String certificate = ssl.certificate();
    String key = ssl.key();
    if (certificate != null && key != null) {
      options.setKeyCertOptions(new PemKeyCertOptions().setCertPath(certificate).setKeyPath(key));
    }
    options.setHostnameVerificationAlgorithm(mode == SslMode.VERIFY_FULL ? "HTTPS" : "");
    return options;
  }

  /**
   * Closes the socket at once, whatever is in flight; the pool forgets the connection. Past the
   * pipeline: Vert.x holds a close back until what is in flight has been written and answered.
   */
  static void abort(SqlConnection connection) {
    Channel channel = channel(connection);
    channel.eventLoop().execute(() -> channel.unsafe().close(channel.newPromise()));
  }

  /** The generation given to {@link #connect}; null for a connection that is none of ours. */
  static @Nullable Integer generation(SqlConnection connection) {
    Connection inner = ((SqlConnectionInternal) connection).unwrap();
    return inner instanceof PooledConnection pooled && pooled.factory() instanceof Factory f
        ? f.generation
        : null;
  }

  private static Channel channel(SqlConnection connection) {
    Connection socket = ((SqlConnectionInternal) connection).unwrap().unwrap();
    return ((SocketConnectionBase) socket).socket().channelHandlerContext().channel();
  }

  /** The application name of a connection that serves one purpose. */
  static String named(String application, String purpose) {
    return application + " " + purpose.toLowerCase(Locale.ROOT);
  }
}
