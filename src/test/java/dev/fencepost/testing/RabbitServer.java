package dev.fencepost.testing;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A RabbitMQ node of the test's own: its name, ports, cookie, port mapper and folder are shared
 * with nothing, so that it can be stopped, killed, paused and put under alarms.
 */
public final class RabbitServer extends OwnServer {

  private static final Duration START_DEADLINE = Duration.ofMinutes(3);
  private static final AtomicInteger VHOSTS = new AtomicInteger();

  private final String uri;
  private final RabbitFolder folder;
  private ServerProcess portMapper;
  private ErlangShell shell;

  private RabbitServer(String uri, RabbitFolder folder) {
    super(folder == null);
    this.uri = uri;
    this.folder = folder;
  }

  /** Starts a private node without plugins. */
  public static RabbitServer start() {
    return start(Map.of());
  }

  /** Starts a private node; {@code settings} are lines of {@code rabbitmq.conf}. */
  public static RabbitServer start(Map<String, String> settings) {
    return start(RabbitFolder.create(settings, false));
  }

  /** Starts a private node with the management plugin, see {@link #managementUri()}. */
  public static RabbitServer startWithManagement(Map<String, String> settings) {
    return start(RabbitFolder.create(settings, true));
  }

  /** A broker somebody else runs. */
  static RabbitServer outside(String uri) {
    return new RabbitServer(uri, null);
  }

  private static RabbitServer start(RabbitFolder folder) {
    RabbitServer server =
        new RabbitServer("amqp://guest:guest@127.0.0.1:" + folder.port() + "/%2F", folder);
    server.portMapper = folder.launchPortMapper();
    server.launch();
    return server;
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
    own("managementUri");
    if (folder.managementPort() == 0) {
      throw new IllegalStateException("this node was started without the management plugin");
    }
    return "http://guest:guest@127.0.0.1:" + folder.managementPort();
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
    List<String> quiet = new ArrayList<>(List.of("-q"));
    quiet.addAll(List.of(arguments));
    return folder.ctl(quiet);
  }

  /**
   * SIGKILL: what was not durable is lost. The index in which RabbitMQ 3.10 finds the log of a
   * quorum queue is written out first: it is saved only some time after the queue was declared, and
   * a node killed before comes back with an empty queue that never elects a leader.
   */
  @Override
  public void kill() {
    own("kill");
    if (isRunning() && !paused()) {
      eval("[dets:sync(Table) || Table <- dets:all()]");
    }
    killProcess();
  }

  /** Kills it and deletes its folder; nothing for a broker somebody else runs. */
  @Override
  public void close() {
    if (folder != null) {
      shell.close();
      killProcess();
      portMapper.kill();
      folder.delete();
    }
  }

  @Override
  void ensureRunning() {
    super.ensureRunning();
    if (!outside()) {
      memoryAlarm(false);
      diskAlarm(false);
    }
  }

  private void alarm(String resource, boolean raised) {
    own(resource + " alarm");
    String alarm = "{resource_limit, " + resource + ", node()}";
    eval(
        raised
            ? "rabbit_alarm:set_alarm({" + alarm + ", []})"
            : "rabbit_alarm:clear_alarm(" + alarm + ")");
  }

  @Override
  ServerProcess launchProcess() {
    return folder.launch();
  }

  @Override
  void awaitReady(ServerProcess started) {
    if (shell != null) {
      shell.close();
    }
    shell = folder.shell();
    started.awaitReady(
        "RabbitMQ is ready on port " + port(),
        START_DEADLINE,
        () -> shell.eval("rabbit:is_running()").equals("true") && RabbitFolder.answers(port()));
  }

  @Override
  Shutdown shutdown() {
    return new Shutdown("TERM", Duration.ofSeconds(60));
  }

  @Override
  String notOwn() {
    return "the broker of "
        + TestServers.BROKER_URI
        + ": use an instance of your own (RabbitServer.start())";
  }

  private static String binary(String text) {
    return "<<\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"/utf8>>";
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
