package dev.fencepost.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.stream.Stream;

/** Runs scenarios one after the other and writes their tables. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) throws IOException {
    Options options = Options.of(arguments);
    Report report =
        new Report(options.shortForm() ? Paths.TARGET.resolve("performance.md") : Paths.NOTE);
    try (Servers servers = new Servers()) {
      Scenarios scenarios = new Scenarios(options, servers, report);
      List<String> names = options.chosen(scenarios.names());
      report.text("machine", machine(servers));
      names.forEach(scenarios::run);
    }
    System.exit(0);
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
