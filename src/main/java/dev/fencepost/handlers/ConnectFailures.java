package dev.fencepost.handlers;

import dev.fencepost.model.RunEvent;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import javax.net.ssl.SSLException;

/** What a failure to connect says. Nothing of the request has been sent in any of these cases. */
final class ConnectFailures {
  private ConnectFailures() {}

  static RunEvent event(Throwable failure, boolean tls) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof UnknownHostException) {
        return RunEvent.NAME_NOT_RESOLVED;
      }
      if (t instanceof SSLException || (tls && t instanceof ClosedChannelException)) {
        return RunEvent.TLS_HANDSHAKE_FAILED;
      }
    }
    return RunEvent.CONNECTION_REFUSED;
  }
}
