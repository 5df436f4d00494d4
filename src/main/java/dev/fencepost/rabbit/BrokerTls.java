package dev.fencepost.rabbit;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Vertx;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * TLS from a broker URI's parameters (PEM files). The peer and its host name are verified unless
 * {@code verify=verify_none} says otherwise.
 */
final class BrokerTls {

  private BrokerTls() {}

  static boolean verified(BrokerUri uri) {
    return !"verify_none".equals(uri.parameter("verify"));
  }

  /**
   * Reads the files; not for an event loop.
   *
   * @throws FencepostException of kind CONFIGURATION when one cannot be read
   */
  static SSLContext context(BrokerUri uri, Vertx vertx) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys(uri, vertx), trust(uri, vertx), new SecureRandom());
      return context;
    } catch (Exception e) {
      throw new FencepostException(
          FailureKind.CONFIGURATION, "broker " + uri + ": TLS: " + e.getMessage(), e);
    }
  }

  private static KeyManager @Nullable [] keys(BrokerUri uri, Vertx vertx) throws Exception {
    String certificate = uri.parameter("certfile");
    String key = uri.parameter("keyfile");
    if (certificate == null && key == null) {
      return null;
    }
    if (certificate == null || key == null) {
      throw new IllegalArgumentException("certfile and keyfile go together");
    }
    return new PemKeyCertOptions()
        .addCertPath(certificate)
        .addKeyPath(key)
        .getKeyManagerFactory(vertx)
        .getKeyManagers();
  }

  /** Null means the JDK's own trust store. */
  private static TrustManager @Nullable [] trust(BrokerUri uri, Vertx vertx) throws Exception {
    if (!verified(uri)) {
      return new TrustManager[] {new TrustAll()};
    }
    String authority = uri.parameter("cacertfile");
    return authority == null
        ? null
        : new PemTrustOptions()
            .addCertPath(authority)
            .getTrustManagerFactory(vertx)
            .getTrustManagers();
  }

  private static final class TrustAll implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
