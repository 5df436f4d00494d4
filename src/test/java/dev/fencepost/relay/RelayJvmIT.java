package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.ServiceProcess;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The relay processes of tests leave nothing behind. */
class RelayJvmIT {
  private static final Duration SOON = Duration.ofSeconds(60);

  /** Starts a relay that reaches nobody, and stays. */
  static final class Owner {
    public static void main(String[] args) throws Exception {
      RelayJvm relay = RelayJvm.start("postgresql://127.0.0.1:1/none", "amqp://127.0.0.1:1", 1, 10);
      System.out.println("relay " + relay.pid());
      new CountDownLatch(1).await();
    }
  }

  @Test
  void diesWithTheJvmThatStartedItHoweverThatDies() {
    try (ServiceProcess owner = ServiceProcess.start(Owner.class)) {
      String line = owner.awaitLine("^relay", SOON);
      long pid = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
      assertThat(alive(pid)).isTrue();
      // Not by its tree, as a test's own processes are killed.
      ProcessHandle.of(owner.pid()).orElseThrow().destroyForcibly();
      owner.awaitExit(SOON);
      Await.until("the relay is gone", SOON, () -> !alive(pid));
    }
  }

  private static boolean alive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }
}
