package dev.fencepost.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ServiceProcessIT {

  private static final Duration SOON = Duration.ofSeconds(30);

  /** Says that it is ready, answers each question, and says good-bye when asked to end. */
  static final class Answering {
    public static void main(String[] args) throws Exception {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
      System.out.println("ready " + args[0] + " " + System.getenv("GREETING"));
      for (int i = 0; true; i++) {
        Path asked = Path.of("question-" + i);
        Await.until("asked", Duration.ofMinutes(5), () -> Files.exists(asked));
        System.out.println("answer " + i);
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

  /** Starts a server, freezes it and stays. */
  static final class Freezer {
    public static void main(String[] args) throws Exception {
      PostgresServer server = PostgresServer.start();
      server.pause();
      System.out.println("frozen");
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
  void pausesAndResumes() throws IOException {
    try (ServiceProcess process = start()) {
      ask(process, 0);
      process.awaitLine("answer 0", SOON);
      process.pause();
      ask(process, 1);
      assertThatThrownBy(() -> process.awaitLine("answer 1", Duration.ofMillis(300)))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("answer 1");
      assertThat(process.lines("answer 1")).isEmpty();
      process.resume();
      process.awaitLine("answer 1", SOON);
    }
  }

  private static void ask(ServiceProcess process, int question) throws IOException {
    Files.createFile(process.folder().resolve("question-" + question));
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

  /** Its sessions, frozen, see nothing of their server's death. */
  @Test
  void frozenServersDieWithTheJvmThatStartedThem() {
    try (ServiceProcess owner = ServiceProcess.start(Freezer.class)) {
      owner.awaitLine("^frozen", Duration.ofSeconds(90));
      ProcessHandle jvm = ProcessHandle.of(owner.pid()).orElseThrow();
      List<Long> all = jvm.descendants().map(ProcessHandle::pid).toList();
      assertThat(all).as("the server and its processes").hasSizeGreaterThan(5);
      jvm.destroyForcibly();
      owner.awaitExit(SOON);
      Await.until("all are gone", () -> all.stream().noneMatch(ServerProcess::runs));
    }
  }

  private static ServiceProcess start() {
    return ServiceProcess.start(Answering.class, Map.of("GREETING", "hello"), "now");
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
