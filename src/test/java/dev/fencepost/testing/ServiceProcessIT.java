package dev.fencepost.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ServiceProcessIT {

  private static final Duration SOON = Duration.ofSeconds(30);

  /** Says that it is ready, counts, and says good-bye when asked to end. */
  static final class Counter {
    public static void main(String[] args) throws Exception {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
      System.out.println("ready " + args[0] + " " + System.getenv("GREETING"));
      for (int i = 0; true; i++) {
        System.out.println("count " + i);
        Thread.sleep(20);
      }
    }
  }

  static final class Failing {
    public static void main(String[] args) {
      throw new IllegalStateException("no way");
    }
  }

  /** Starts servers and stays. */
  static final class Owner {
    public static void main(String[] args) throws Exception {
      System.out.println("postgres " + PostgresServer.start().port());
      System.out.println("rabbit " + RabbitServer.start().port());
      new CountDownLatch(1).await();
    }
  }

  @Test
  void killsAndTerminates() {
    try (ServiceProcess one = start();
        ServiceProcess other = start()) {
      assertThat(one.awaitLine("ready", SOON)).isEqualTo("ready now hello");
      other.awaitLine("ready", SOON);
      one.kill();
      assertThat(one.isAlive()).isFalse();
      assertThat(one.awaitExit(SOON)).isEqualTo(137);
      assertThat(one.lines("bye")).isEmpty();
      assertThat(other.isAlive()).isTrue();
      other.terminate();
      assertThat(other.awaitExit(SOON)).isEqualTo(143);
      assertThat(other.lines("bye")).hasSize(1);
    }
  }

  @Test
  void pausesAndResumes() {
    try (ServiceProcess process = start()) {
      process.awaitLine("count 3", SOON);
      process.pause();
      int before = process.lines("count").size();
      assertThatThrownBy(
              () ->
                  process.await(
                      "goes on",
                      Duration.ofMillis(300),
                      () -> process.lines("count").size() > before))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("goes on");
      process.resume();
      process.await("goes on", SOON, () -> process.lines("count").size() > before + 3);
    }
  }

  @Test
  void aProcessThatEndsIsNotWaitedFor() {
    try (ServiceProcess process = ServiceProcess.start(Failing.class)) {
      assertThatThrownBy(() -> process.awaitLine("ready", Duration.ofMinutes(5)))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("ended before")
          .hasMessageContaining("no way");
    }
  }

  @Test
  void serversDieWithTheJvmThatStartedThemHoweverItDies() {
    try (ServiceProcess owner = ServiceProcess.start(Owner.class)) {
      int rabbit = port(owner.awaitLine("^rabbit", Duration.ofSeconds(90)));
      int postgres = port(owner.awaitLine("^postgres", SOON));
      assertThat(answers(rabbit) && answers(postgres)).isTrue();
      ProcessHandle.of(owner.pid()).orElseThrow().destroyForcibly();
      owner.awaitExit(SOON);
      Await.until("both servers are gone", () -> !answers(rabbit) && !answers(postgres));
    }
  }

  private static ServiceProcess start() {
    return ServiceProcess.start(Counter.class, Map.of("GREETING", "hello"), "now");
  }

  private static int port(String line) {
    return Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
  }

  private static boolean answers(int port) {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }
}
