package dev.fencepost.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Runs scenarios one after the other and writes their tables. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) {
    try {
      Options options = Options.of(arguments);
      if (options.help()) {
        System.out.print(Options.manual());
        System.exit(0);
      }
      System.exit(run(options) ? 0 : 1);
    } catch (Options.Refused e) {
      System.err.println("bench/run: " + e.getMessage() + "\n(bench/run --help says more)");
      System.exit(2);
    } catch (Throwable e) {
      // Said here and now: threads of clients would keep this process alive.
      e.printStackTrace();
      System.exit(1);
    }
  }

  /** Whether all scenarios went well; one that fails doesn't keep the others from running. */
  private static boolean run(Options options) throws IOException {
    Report report = new Report(options.publish());
    List<String> failed = new ArrayList<>();
    try (Servers servers = new Servers()) {
      Scenarios scenarios = new Scenarios(options, servers, report);
      report.text("machine", machine(servers));
      for (String name : options.chosen()) {
        try {
          scenarios.run(name);
        } catch (RuntimeException | AssertionError e) {
          e.printStackTrace();
          failed.add(name);
        }
      }
    }
    if (!failed.isEmpty()) {
      System.err.println("failed: " + String.join(", ", failed));
    }
    return failed.isEmpty();
  }

  private static String machine(Servers servers) throws IOException {
    String model = field("/proc/cpuinfo", "model name");
    String memory = field("/proc/meminfo", "MemTotal");
    try (Servers.Database database = new Servers.Database()) {
      return """
          | machine | |
          |---|---|
          | date | %s |
          | processors | %d × %s |
          | memory | %s |
          | kernel | %s |
          | Java | %s |
          | PostgreSQL | %s |
          | RabbitMQ | %s |
          """
          .formatted(
              LocalDate.now(),
              Runtime.getRuntime().availableProcessors(),
              model,
              memory,
              System.getProperty("os.version"),
              System.getProperty("java.version"),
              database.text("show server_version"),
              servers.brokerVersion());
    }
  }

  private static String field(String file, String name) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of(file))) {
      return lines
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    }
  }
}
