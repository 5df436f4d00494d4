package dev.fencepost.testing;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A pgbouncer of the test's own, in transaction mode, before a server: on a free loopback port. */
public final class PgBouncer implements AutoCloseable {
  private static final String DEBIAN = "/usr/sbin/pgbouncer";

  private final Path folder;
  private final int port;
  private final ServerProcess process;

  private PgBouncer(Path folder, int port, ServerProcess process) {
    this.folder = folder;
    this.port = port;
    this.process = process;
  }

  /** Whether the program is installed. */
  public static boolean installed() {
    return program().isPresent();
  }

  /**
   * @param uri of a database of the server; any other of its databases can be reached too
   * @param settings beside the defaults, as in its file
   */
  public static PgBouncer start(String uri, Map<String, String> settings) throws IOException {
    Path folder = TempFolders.create("pgbouncer");
    // It may run as another user than this JVM: as root it refuses to.
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    int port = Ports.free();
    Path file = folder.resolve("pgbouncer.ini");
    Files.writeString(file, text(URI.create(uri), port, settings));
    ServerProcess process =
        ServerProcess.start(
            new ServerProcess.Command(
                List.of(program().orElseThrow().toString(), file.toString()),
                Map.of(),
                folder,
                folder.resolve("pgbouncer.log"),
                Binaries.serverUser()));
    process.awaitReady(
        "pgbouncer answers on port " + port,
        Duration.ofSeconds(60),
        () -> {
          try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
            return true;
          }
        });
    return new PgBouncer(folder, port, process);
  }

  private static String text(URI server, int port, Map<String, String> settings) {
    String[] user = server.getRawUserInfo().split(":", 2);
    StringBuilder text = new StringBuilder();
    text.append("[databases]\n* = host=" + server.getHost() + " port=" + server.getPort());
    text.append(" user=" + user[0] + " password=" + user[1] + "\n");
    text.append("[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " + port + "\n");
    text.append("unix_socket_dir =\nauth_type = any\npool_mode = transaction\n");
    settings.forEach((name, value) -> text.append(name + " = " + value + "\n"));
    return text.toString();
  }

  private static Optional<Path> program() {
    return List.of(DEBIAN, "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer").stream()
        .map(Path::of)
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** The same database through it. */
  public String uri(String direct) {
    int given = URI.create(direct).getPort();
    return direct.replace(":" + given + "/", ":" + port + "/");
  }

  @Override
  public void close() {
    process.kill();
    TempFolders.delete(folder);
  }
}
