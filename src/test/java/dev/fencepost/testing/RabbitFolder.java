package dev.fencepost.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The folder of a {@link RabbitServer}: its data, configuration and the programs run on it. */
final class RabbitFolder {

  private static final String COOKIE = "fencepost";
  private static final String NODE = "fencepost@127.0.0.1";

  private final Path folder;
  private final int port = Ports.free();
  private final int managementPort;
  private final int mapperPort = Ports.free();
  private final Map<String, String> environment;

  private RabbitFolder(Path folder, int managementPort) {
    this.folder = folder;
    this.managementPort = managementPort;
    this.environment = environment();
  }

  /** A folder for a node on free ports; {@code settings} are lines of {@code rabbitmq.conf}. */
  static RabbitFolder create(Map<String, String> settings, boolean management) {
    RabbitFolder folder =
        new RabbitFolder(TempFolders.create("rabbit"), management ? Ports.free() : 0);
    folder.configure(settings);
    return folder;
  }

  int port() {
    return port;
  }

  /** 0 without the management plugin. */
  int managementPort() {
    return managementPort;
  }

  /** Starts the port mapper of the node, which would otherwise be the machine's. */
  ServerProcess launchPortMapper() {
    ServerProcess mapper =
        ServerProcess.start(
            command(
                List.of("epmd", "-port", Integer.toString(mapperPort), "-address", "127.0.0.1"),
                "epmd.log"));
    mapper.awaitReady("epmd answers", Duration.ofSeconds(30), () -> answers(mapperPort));
    return mapper;
  }

  ServerProcess launch() {
    String script = Binaries.rabbit().resolve("rabbitmq-server").toString();
    return ServerProcess.start(command(List.of(script), "server.log"));
  }

  ErlangShell shell() {
    return ErlangShell.start(NODE, COOKIE, environment, folder.resolve("shell.log"));
  }

  String ctl(List<String> arguments) {
    List<String> line = new ArrayList<>();
    line.add(Binaries.rabbit().resolve("rabbitmqctl").toString());
    line.addAll(arguments);
    try {
      Files.deleteIfExists(folder.resolve("ctl.log"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return ServerProcess.run(command(line, "ctl.log"));
  }

  void delete() {
    TempFolders.delete(folder);
  }

  static boolean answers(int port) throws IOException {
    new Socket(InetAddress.getLoopbackAddress(), port).close();
    return true;
  }

  private Map<String, String> environment() {
    Map<String, String> variables = new HashMap<>();
    variables.put("HOME", folder.toString());
    variables.put("ERL_EPMD_PORT", Integer.toString(mapperPort));
    variables.put("ERL_EPMD_ADDRESS", "127.0.0.1");
    variables.put("RABBITMQ_NODENAME", NODE);
    variables.put("RABBITMQ_USE_LONGNAME", "true");
    variables.put("RABBITMQ_NODE_PORT", Integer.toString(port));
    variables.put("RABBITMQ_DIST_PORT", Integer.toString(Ports.free()));
    variables.put("RABBITMQ_MNESIA_BASE", folder.resolve("data").toString());
    variables.put("RABBITMQ_LOG_BASE", folder.resolve("log").toString());
    variables.put("RABBITMQ_CONFIG_FILE", folder.resolve("rabbitmq.conf").toString());
    variables.put("RABBITMQ_CONF_ENV_FILE", folder.resolve("no-env.conf").toString());
    variables.put("RABBITMQ_ENABLED_PLUGINS_FILE", folder.resolve("plugins").toString());
    // The start script then becomes the node, so that the process we signal is the node.
    variables.put("RUNNING_UNDER_SYSTEMD", "true");
    return Map.copyOf(variables);
  }

  private void configure(Map<String, String> settings) {
    Map<String, String> all = new TreeMap<>();
    all.put("listeners.tcp.1", "127.0.0.1:" + port);
    all.put("loopback_users", "none");
    all.put("disk_free_limit.absolute", "50MB");
    if (managementPort != 0) {
      all.put("management.tcp.ip", "127.0.0.1");
      all.put("management.tcp.port", Integer.toString(managementPort));
    }
    all.putAll(settings);
    List<String> lines =
        all.entrySet().stream().map(e -> e.getKey() + " = " + e.getValue()).toList();
    try {
      Files.write(folder.resolve("rabbitmq.conf"), lines);
      Files.writeString(
          folder.resolve("plugins"), managementPort == 0 ? "[]." : "[rabbitmq_management].");
      Path cookie = Files.writeString(folder.resolve(".erlang.cookie"), COOKIE);
      Files.setPosixFilePermissions(cookie, PosixFilePermissions.fromString("r--------"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ServerProcess.Command command(List<String> line, String log) {
    return new ServerProcess.Command(line, environment, folder, folder.resolve(log), null);
  }
}
