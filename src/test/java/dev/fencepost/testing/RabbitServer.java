package dev.fencepost.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A RabbitMQ node of the test's own: its name, ports, cookie, port mapper and folder are shared
 * with nothing, so that it can be stopped, killed, paused and put under alarms.
 */
public final class RabbitServer implements AutoCloseable {

  private static final String COOKIE = "fencepost";
  private static final String NODE = "fencepost@127.0.0.1";
  private static final Duration START_DEADLINE = Duration.ofSeconds(90);
  private static final AtomicInteger VHOSTS = new AtomicInteger();

  private final String uri;
  private final Path folder;
  private final int managementPort;
  private final Map<String, String> environment;
  private ServerProcess portMapper;
  private ServerProcess process;
  private ErlangShell shell;
  private boolean paused;

  private RabbitServer(
      String uri, Path folder, int managementPort, Map<String, String> environment) {
    this.uri = uri;
    this.folder = folder;
    this.managementPort = managementPort;
    this.environment = environment;
  }

  /** Starts a private node without plugins. */
  public static RabbitServer start() {
    return start(Map.of());
  }

  /** Starts a private node; {@code settings} are lines of {@code rabbitmq.conf}. */
  public static RabbitServer start(Map<String, String> settings) {
    return start(settings, 0);
  }

  /** Starts a private node with the management plugin, see {@link #managementUri()}. */
  public static RabbitServer startWithManagement(Map<String, String> settings) {
    int port = Ports.free();
    Map<String, String> all = new HashMap<>(settings);
    all.put("management.tcp.ip", "127.0.0.1");
    all.put("management.tcp.port", Integer.toString(port));
    return start(all, port);
  }

  /** A broker somebody else runs. */
  static RabbitServer outside(String uri) {
    return new RabbitServer(uri, null, 0, Map.of());
  }

  private static RabbitServer start(Map<String, String> settings, int managementPort) {
    int port = Ports.free();
    Path folder = TempFolders.create("rabbit");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> TempFolders.delete(folder)));
    RabbitServer server =
        new RabbitServer(
            "amqp://guest:guest@127.0.0.1:" + port + "/%2F",
            folder,
            managementPort,
            environment(folder, port));
    server.configure(port, settings);
    server.launchPortMapper();
    server.launch();
    return server;
  }

  private static Map<String, String> environment(Path folder, int port) {
    Map<String, String> variables = new HashMap<>();
    variables.put("HOME", folder.toString());
    variables.put("ERL_EPMD_PORT", Integer.toString(Ports.free()));
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

  /** The URI of the default virtual host, for the administrator. */
  public String uri() {
    return uri;
  }

  /** The URI of a virtual host of this broker, for the administrator. */
  public String uri(String vhost) {
    return uri.substring(0, uri.indexOf('/', "amqp://".length()) + 1) + encode(vhost);
  }

  /** The URI of a virtual host for another user. */
  public static String uriAs(String uri, String user, String password) {
    URI parsed = URI.create(uri);
    return "amqp://"
        + encode(user)
        + ":"
        + encode(password)
        + "@"
        + parsed.getHost()
        + ":"
        + parsed.getPort()
        + parsed.getRawPath();
  }

  public int port() {
    return URI.create(uri).getPort();
  }

  /** The management API, on a node of {@link #startWithManagement}. */
  public String managementUri() {
    if (managementPort == 0) {
      throw new IllegalStateException("this node was started without the management plugin");
    }
    return "http://guest:guest@127.0.0.1:" + managementPort;
  }

  /**
   * Creates an empty virtual host and returns its URI. Of a broker somebody else runs it is the
   * virtual host of the given URI: name queues so that they do not collide.
   */
  public String newVhost() {
    if (folder == null) {
      return uri;
    }
    String name = "test-" + VHOSTS.incrementAndGet();
    eval("rabbit_vhost:add(" + binary(name) + ", <<\"test\">>)");
    permit("guest", name, ".*", ".*", ".*");
    return uri(name);
  }

  /** Deletes a virtual host of {@link #newVhost()}, with its queues and connections. */
  public void deleteVhost(String vhostUri) {
    own("deleteVhost");
    String name = URI.create(vhostUri).getPath().substring(1);
    eval("rabbit_vhost:delete(" + binary(name) + ", <<\"test\">>)");
  }

  /**
   * Adds a user to the virtual host of a URI and returns the URI for that user; the permissions are
   * regular expressions for what it may configure, write and read.
   */
  public String addUser(
      String vhostUri, String name, String password, String configure, String write, String read) {
    own("addUser");
    String vhost = URI.create(vhostUri).getPath().substring(1);
    eval(
        "rabbit_auth_backend_internal:add_user("
            + binary(name)
            + ", "
            + binary(password)
            + ", <<\"test\">>)");
    permit(name, vhost.isEmpty() ? "/" : vhost, configure, write, read);
    return uriAs(vhostUri, name, password);
  }

  /** Replaces what a user may configure, write and read in a virtual host. */
  public void permit(String user, String vhost, String configure, String write, String read) {
    own("permit");
    eval(
        "rabbit_auth_backend_internal:set_permissions("
            + String.join(
                ", ", binary(user), binary(vhost), binary(configure), binary(write), binary(read))
            + ", <<\"test\">>)");
  }

  /** Raises or clears the memory alarm: publishing connections are blocked. */
  public void memoryAlarm(boolean raised) {
    alarm("memory", raised);
  }

  /** Raises or clears the disk alarm: publishing connections are blocked. */
  public void diskAlarm(boolean raised) {
    alarm("disk", raised);
  }

  /** Closes every client connection from the broker's side (reply code 320). */
  public void closeAllConnections() {
    own("closeAllConnections");
    eval(
        "[rabbit_networking:close_connection(P, \"closed by a test\")"
            + " || P <- rabbit_networking:connections()]");
  }

  /** Evaluates Erlang on the node: milliseconds, where {@link #ctl} takes two seconds. */
  public String eval(String expressions) {
    own("eval");
    return shell.eval(expressions);
  }

  /** Runs {@code rabbitmqctl} and returns what it prints. */
  public String ctl(String... arguments) {
    own("ctl");
    List<String> line =
        new ArrayList<>(List.of(Binaries.rabbit().resolve("rabbitmqctl").toString(), "-q"));
    line.addAll(List.of(arguments));
    Path log = folder.resolve("ctl.log");
    try {
      Files.deleteIfExists(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return ServerProcess.run(command(line, "ctl.log"));
  }

  /** Shuts down in order. */
  public void stop() {
    own("stop");
    resume();
    process.signal("TERM");
    process.awaitExit(Duration.ofSeconds(60));
  }

  /**
   * SIGKILL: what was not durable is lost. The index in which RabbitMQ 3.10 finds the log of a
   * quorum queue is written out first: it is saved only some time after the queue was declared, and
   * a node killed before comes back with an empty queue that never elects a leader.
   */
  public void kill() {
    own("kill");
    if (process.isAlive() && !paused) {
      eval("[dets:sync(Table) || Table <- dets:all()]");
    }
    paused = false;
    process.kill();
  }

  /** SIGSTOP: connections stay open and silent. */
  public void pause() {
    own("pause");
    process.pause();
    paused = true;
  }

  /** Undoes {@link #pause()}. */
  public void resume() {
    own("resume");
    if (paused) {
      process.resume();
      paused = false;
    }
  }

  /** Starts it again on the same port and data, after a stop or kill, or stops it first. */
  public void restart() {
    own("restart");
    if (process.isAlive()) {
      stop();
    }
    launch();
  }

  public boolean isRunning() {
    return folder == null || process.isAlive();
  }

  /** Kills it and deletes its folder; nothing for a broker somebody else runs. */
  @Override
  public void close() {
    if (folder != null) {
      shell.close();
      process.kill();
      portMapper.kill();
      TempFolders.delete(folder);
    }
  }

  void ensureRunning() {
    if (folder == null) {
      return;
    }
    resume();
    if (!process.isAlive()) {
      launch();
    }
    memoryAlarm(false);
    diskAlarm(false);
  }

  private void alarm(String resource, boolean raised) {
    own(resource + " alarm");
    String alarm = "{resource_limit, " + resource + ", node()}";
    eval(
        raised
            ? "rabbit_alarm:set_alarm({" + alarm + ", []})"
            : "rabbit_alarm:clear_alarm(" + alarm + ")");
  }

  private void configure(int port, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>();
    all.put("listeners.tcp.1", "127.0.0.1:" + port);
    all.put("loopback_users", "none");
    all.put("disk_free_limit.absolute", "50MB");
    all.putAll(settings);
    StringBuilder text = new StringBuilder();
    all.forEach((name, value) -> text.append(name).append(" = ").append(value).append('\n'));
    try {
      Files.writeString(folder.resolve("rabbitmq.conf"), text);
      Files.writeString(
          folder.resolve("plugins"), managementPort == 0 ? "[]." : "[rabbitmq_management].");
      Path cookie = Files.writeString(folder.resolve(".erlang.cookie"), COOKIE);
      Files.setPosixFilePermissions(cookie, PosixFilePermissions.fromString("r--------"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void launchPortMapper() {
    String port = environment.get("ERL_EPMD_PORT");
    portMapper =
        ServerProcess.start(
            command(List.of("epmd", "-port", port, "-address", "127.0.0.1"), "epmd.log"));
    Await.until(
        "epmd answers on port " + port,
        Duration.ofSeconds(10),
        () -> answers(Integer.parseInt(port)));
  }

  private void launch() {
    String script = Binaries.rabbit().resolve("rabbitmq-server").toString();
    process = ServerProcess.start(command(List.of(script), "server.log"));
    if (shell != null) {
      shell.close();
    }
    shell = ErlangShell.start(NODE, COOKIE, environment, folder.resolve("shell.log"));
    process.awaitReady(
        "RabbitMQ is ready on port " + port(),
        START_DEADLINE,
        () -> shell.eval("rabbit:is_running()").equals("true") && answers(port()));
  }

  private ServerProcess.Command command(List<String> line, String log) {
    return new ServerProcess.Command(line, environment, folder, folder.resolve(log), null);
  }

  private void own(String operation) {
    if (folder == null) {
      throw new IllegalStateException(
          operation
              + " is refused on the broker of "
              + TestServers.BROKER_URI
              + ": use an instance of your own (RabbitServer.start())");
    }
  }

  private static boolean answers(int port) throws IOException {
    new Socket(InetAddress.getLoopbackAddress(), port).close();
    return true;
  }

  private static String binary(String text) {
    return "<<\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"/utf8>>";
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
