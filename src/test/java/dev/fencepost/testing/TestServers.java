package dev.fencepost.testing;

/**
 * The servers that all tests of a run share, started on first use. Take a fresh database or virtual
 * host per test class; a test that stops, kills or pauses a server takes an instance of its own
 * ({@link PostgresServer#start()}, {@link RabbitServer#start()}) and closes it.
 *
 * <p>{@value #DATABASE_URI} and {@value #BROKER_URI} name running servers to use instead.
 */
public final class TestServers {

  public static final String DATABASE_URI = "FENCEPOST_TEST_DATABASE_URI";
  public static final String BROKER_URI = "FENCEPOST_TEST_BROKER_URI";

  private static PostgresServer postgres;
  private static RabbitServer broker;

  private TestServers() {}

  /** The shared PostgreSQL, running. */
  public static synchronized PostgresServer postgres() {
    if (postgres == null) {
      String uri = System.getenv(DATABASE_URI);
      postgres = uri == null ? PostgresServer.start() : PostgresServer.outside(uri);
    }
    postgres.ensureRunning();
    return postgres;
  }

  /** The shared RabbitMQ, running and without alarms. */
  public static synchronized RabbitServer broker() {
    if (broker == null) {
      String uri = System.getenv(BROKER_URI);
      broker = uri == null ? RabbitServer.start() : RabbitServer.outside(uri);
    }
    broker.ensureRunning();
    return broker;
  }
}
