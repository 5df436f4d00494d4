package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A relay in a JVM of its own, to be killed: database URI, broker URI, lanes, window. */
final class RelayMain {
  private RelayMain() {}

  public static void main(String[] args) throws InterruptedException {
    FencepostConfig.Relay relay = settings(Integer.parseInt(args[2]), Integer.parseInt(args[3]));
    RelayProcess process = RelayProcess.onRabbit(args[0], args[1], relay);
    Runtime.getRuntime().addShutdownHook(new Thread(process::stop));
    System.out.println("started " + process.instance);
    new CountDownLatch(1).await();
  }

  static FencepostConfig.Relay settings(int lanes, int window) {
    return RelayConfigs.with(
        RelayConfigs.relay(lanes),
        new FencepostConfig.Relay.Paging(
            Math.min(500, window), window, 16 << 20, Duration.ofMillis(2), Duration.ofMillis(100)));
  }
}
