package dev.fencepost.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The folder of a {@link PostgresServer}: its data, settings and the programs run on it. */
final class PostgresFolder {

  static final String USER = "postgres";
  static final String PASSWORD = "fencepost";

  private final Path folder;
  private final Map<String, String> settings;

  private PostgresFolder(Path folder, Map<String, String> settings) {
    this.folder = folder;
    this.settings = settings;
  }

  /** A folder for a server on a free port. */
  static PostgresFolder create(Map<String, String> settings) {
    Map<String, String> all = new TreeMap<>(defaults());
    all.putAll(settings);
    all.put("port", Integer.toString(Ports.free()));
    Path folder = TempFolders.create("postgres");
    try {
      // The server may run as another user than this JVM.
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new PostgresFolder(folder, all);
  }

  private static Map<String, String> defaults() {
    return Map.of(
        "listen_addresses", "127.0.0.1",
        "unix_socket_directories", "",
        "max_connections", "200",
        "max_prepared_transactions", "20",
        "track_activity_query_size", "4096",
        "shared_buffers", "64MB",
        "timezone", "UTC",
        "log_line_prefix", "%m [%p] %a ");
  }

  int port() {
    return Integer.parseInt(settings.get("port"));
  }

  /** Creates an empty cluster. */
  void initialize() {
    Path password = folder.resolve("password");
    write(password, PASSWORD);
    run(
        "initdb",
        List.of(
            "-D",
            data(),
            "-U",
            USER,
            "-A",
            "scram-sha-256",
            "--pwfile",
            password.toString(),
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync"));
  }

  /** Copies a running server as the start of a standby. */
  void copyFrom(int primaryPort) {
    run(
        "pg_basebackup",
        List.of(
            "-h",
            "127.0.0.1",
            "-p",
            Integer.toString(primaryPort),
            "-U",
            USER,
            "-D",
            data(),
            "-X",
            "stream",
            "-c",
            "fast",
            "-N"));
    write(Path.of(data(), "standby.signal"), "");
  }

  /** {@code pg_dump} of one database; readable for other servers of the same user. */
  Path dump(String uri) {
    Path file = folder.resolve("dump");
    run("pg_dump", List.of("--format=custom", "--file=" + file, "--dbname=" + uri));
    return file;
  }

  /** {@code pg_restore} into an empty database. */
  void restore(Path dump, String uri) {
    run("pg_restore", List.of("--exit-on-error", "--dbname=" + uri, dump.toString()));
  }

  /** What a standby needs to follow a server. */
  static String connectionInfo(int primaryPort) {
    return "host=127.0.0.1 port="
        + primaryPort
        + " user="
        + USER
        + " password="
        + PASSWORD
        + " application_name=replica";
  }

  ServerProcess launch() {
    List<String> arguments = new ArrayList<>(List.of("-D", data()));
    settings.forEach((name, value) -> arguments.addAll(List.of("-c", name + "=" + value)));
    return ServerProcess.start(command("postgres", arguments, "server.log"));
  }

  void delete() {
    TempFolders.delete(folder);
  }

  private String data() {
    return folder.resolve("data").toString();
  }

  private void run(String program, List<String> arguments) {
    ServerProcess.run(command(program, arguments, program + ".log"));
  }

  private ServerProcess.Command command(String program, List<String> arguments, String log) {
    List<String> line = new ArrayList<>();
    line.add(Binaries.postgres().resolve(program).toString());
    line.addAll(arguments);
    return new ServerProcess.Command(
        line, Map.of("PGPASSWORD", PASSWORD), folder, folder.resolve(log), Binaries.serverUser());
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
