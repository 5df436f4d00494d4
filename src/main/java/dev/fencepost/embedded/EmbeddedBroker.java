package dev.fencepost.embedded;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.net.URL;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener;
import org.apache.qpid.server.model.Broker;
import org.apache.qpid.server.model.Queue;
import org.apache.qpid.server.model.SystemConfig;
import org.apache.qpid.server.model.VirtualHost;
import org.apache.qpid.server.model.VirtualHostNode;
import org.apache.qpid.server.model.port.AmqpPort;

/**
 * An AMQP 0-9-1 broker inside this process on a free loopback port (Apache Qpid Broker-J), with
 * publisher confirms and messages in memory. It has no quorum queues: declare classic ones.
 */
public final class EmbeddedBroker implements AutoCloseable {

  private static final String CONFIGURATION = "broker.json";

  private final SystemLauncher launcher;
  private final Resolved resolved;
  private final int port;

  private EmbeddedBroker(SystemLauncher launcher, Resolved resolved) {
    this.launcher = launcher;
    this.resolved = resolved;
    this.port = resolved.port();
  }

  /**
   * What went through its queues.
   *
   * @param given messages they have taken since the start
   * @param held messages that nobody has acknowledged yet
   */
  public record Traffic(long given, long held) {}

  /**
   * Starts one; takes a second or two, blocking.
   *
   * @throws FencepostException of kind BROKER_UNREACHABLE when it does not start
   */
  public static EmbeddedBroker start() {
    Resolved resolved = new Resolved();
    SystemLauncher launcher = new SystemLauncher(resolved);
    URL configuration =
        Objects.requireNonNull(EmbeddedBroker.class.getResource(CONFIGURATION), CONFIGURATION);
    try {
      launcher.startup(
          Map.of(
              "type", "Memory",
              "initialConfigurationLocation", configuration.toExternalForm(),
              "startupLoggedToSystemOut", "false"));
      return new EmbeddedBroker(launcher, resolved);
    } catch (Exception e) {
      launcher.shutdown();
      throw new FencepostException(
          FailureKind.BROKER_UNREACHABLE,
          "the embedded broker does not start: " + e.getMessage(),
          e);
    }
  }

  /** Its connection URI, as {@code broker.uris} takes it. */
  public String uri() {
    return "amqp://guest:guest@127.0.0.1:" + port + "/";
  }

  public Traffic traffic() {
    long given = 0;
    long held = 0;
    for (VirtualHostNode<?> node : resolved.broker().getVirtualHostNodes()) {
      for (Queue<?> queue : queues(node.getVirtualHost())) {
        // In this order: what is given and taken in between counts as given.
        held += queue.getQueueDepthMessages();
        given += queue.getTotalEnqueuedMessages();
      }
    }
    return new Traffic(given, held);
  }

  @SuppressWarnings("unchecked") // Qpid gives children by raw class
  private static Collection<Queue<?>> queues(VirtualHost<?> host) {
    return (Collection<Queue<?>>) (Collection<?>) host.getChildren(Queue.class);
  }

  @Override
  public void close() {
    launcher.shutdown();
  }

  /** Finds the port that the operating system gave. */
  private static final class Resolved extends SystemLauncherListener.DefaultSystemLauncherListener {
    private final CompletableFuture<SystemConfig<?>> system = new CompletableFuture<>();

    @Override
    public void onContainerResolve(SystemConfig<?> systemConfig) {
      system.complete(systemConfig);
    }

    @SuppressWarnings("unchecked") // Qpid declares the parameter raw
    Broker<?> broker() {
      return system.join().getContainer(Broker.class);
    }

    int port() {
      return broker().getPorts().stream()
          .filter(AmqpPort.class::isInstance)
          .mapToInt(each -> ((AmqpPort<?>) each).getBoundPort())
          .findFirst()
          .orElseThrow();
    }
  }
}
