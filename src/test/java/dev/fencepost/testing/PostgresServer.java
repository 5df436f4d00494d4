package dev.fencepost.testing;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A PostgreSQL of the test's own on a loopback port: durable as in production (fsync is on), with
 * passwords (SCRAM), and able to be stopped, killed, paused, replicated and promoted.
 */
public final class PostgresServer extends OwnServer {

  private static final Duration START_DEADLINE = Duration.ofSeconds(60);
  private static final AtomicInteger DATABASES = new AtomicInteger();

  private final String uri;
  private final PostgresFolder folder;
  private final List<PostgresServer> replicas = new ArrayList<>();
  private final Map<String, String> templates = new HashMap<>();

  private PostgresServer(String uri, PostgresFolder folder) {
    super(folder == null);
    this.uri = uri;
    this.folder = folder;
  }

  /** Starts a private instance. */
  public static PostgresServer start() {
    return start(Map.of());
  }

  /** Starts a private instance; {@code settings} go before the defaults. */
  public static PostgresServer start(Map<String, String> settings) {
    PostgresFolder folder = PostgresFolder.create(settings);
    folder.initialize();
    return launch(folder);
  }

  /** A server somebody else runs: it gives databases, all else is refused. */
  static PostgresServer outside(String uri) {
    return new PostgresServer(uri, null);
  }

  private static PostgresServer launch(PostgresFolder folder) {
    String user = PostgresFolder.USER + ":" + PostgresFolder.PASSWORD;
    PostgresServer server =
        new PostgresServer(
            "postgresql://" + user + "@127.0.0.1:" + folder.port() + "/postgres", folder);
    server.launch();
    return server;
  }

  /** The URI of the maintenance database, for the superuser. */
  public String uri() {
    return uri;
  }

  /** The URI of a database of this server, for the superuser. */
  public String uri(String database) {
    return uri.substring(0, uri.lastIndexOf('/') + 1) + database;
  }

  /** The URI of a database for another role. */
  public static String uriAs(String uri, String user, String password) {
    URI parsed = URI.create(uri);
    return "postgresql://"
        + encode(user)
        + ":"
        + encode(password)
        + "@"
        + parsed.getHost()
        + ":"
        + parsed.getPort()
        + parsed.getPath();
  }

  public int port() {
    return URI.create(uri).getPort();
  }

  /** Creates an empty database and returns its URI. */
  public String newDatabase() {
    return create("");
  }

  /**
   * Creates a database like the one that {@code prepare} makes of an empty one, which it does once
   * for each name: copying a schema is much cheaper than migrating.
   */
  public synchronized String newDatabase(String like, Consumer<String> prepare) {
    String template = templates.get(like);
    if (template == null) {
      String made = newDatabase();
      prepare.accept(made);
      template = made.substring(made.lastIndexOf('/') + 1);
      templates.put(like, template);
    }
    return create(" template " + template);
  }

  private String create(String options) {
    String name = "test_" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
    execute(uri, "create database " + name + options);
    if (folder == null) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> execute(uri, "drop database " + name)));
    }
    return uri(name);
  }

  /** A JDBC connection, for tests that look at or prepare the database. */
  public static Connection connect(String uri) throws SQLException {
    URI parsed = URI.create(uri);
    String[] user = parsed.getRawUserInfo().split(":", 2);
    return DriverManager.getConnection(
        "jdbc:postgresql://"
            + parsed.getHost()
            + ":"
            + parsed.getPort()
            + parsed.getRawPath()
            + "?connectTimeout=5&user="
            + user[0]
            + "&password="
            + (user.length > 1 ? user[1] : ""));
  }

  /** Runs statements that return nothing of interest, each committed by itself. */
  public static void execute(String uri, String... statements) {
    try (Connection connection = connect(uri);
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends every session of other clients, as an administrator's restart would. */
  public void dropConnections() {
    execute(
        uri,
        "select pg_terminate_backend(pid) from pg_stat_activity"
            + " where pid <> pg_backend_pid() and backend_type = 'client backend'");
  }

  /** A hot standby that streams from this server; closed with it. */
  public PostgresServer startReplica() {
    return startReplica(Map.of());
  }

  /** A hot standby with settings of its own; its {@code application_name} is {@code replica}. */
  public PostgresServer startReplica(Map<String, String> settings) {
    own("startReplica");
    Map<String, String> all = new HashMap<>(settings);
    all.put("primary_conninfo", PostgresFolder.connectionInfo(port()));
    PostgresFolder copy = PostgresFolder.create(all);
    copy.copyFrom(port());
    PostgresServer replica = launch(copy);
    replicas.add(replica);
    return replica;
  }

  /** Makes a standby the writable server; returns when it is. */
  public void promote() {
    own("promote");
    execute(uri, "select pg_promote(true, 60)");
  }

  /** {@code pg_dump} of one of its databases; the file goes with the server. */
  public Path dump(String uri) {
    own("dump");
    return folder.dump(uri);
  }

  /** {@code pg_restore} of another server's dump into an empty database of this one. */
  public void restore(Path dump, String uri) {
    own("restore");
    folder.restore(dump, uri);
  }

  /** Kills it and deletes its folder; nothing for a server somebody else runs. */
  @Override
  public void close() {
    replicas.forEach(PostgresServer::close);
    if (!outside()) {
      kill();
      folder.delete();
    }
  }

  @Override
  ServerProcess launchProcess() {
    return folder.launch();
  }

  @Override
  void awaitReady(ServerProcess started) {
    started.awaitReady(
        "PostgreSQL answers on port " + port(),
        START_DEADLINE,
        () -> {
          connect(uri).close();
          return true;
        });
  }

  /** Fast mode: sessions are ended, a checkpoint is written. */
  @Override
  Shutdown shutdown() {
    return new Shutdown("INT", Duration.ofSeconds(30));
  }

  @Override
  String notOwn() {
    return "the server of "
        + TestServers.DATABASE_URI
        + ": use an instance of your own (PostgresServer.start())";
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
