package dev.fencepost.boot;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/** The name of one process start: readable, and never the same twice. */
final class Instance {

  private Instance() {}

  static String name() {
    byte[] once = new byte[4];
    ThreadLocalRandom.current().nextBytes(once);
    return host() + "-" + ProcessHandle.current().pid() + "-" + HexFormat.of().formatHex(once);
  }

  private static String host() {
    String name = System.getenv("HOSTNAME");
    if (name == null || name.isBlank()) {
      try {
        name = InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException e) {
        name = "host";
      }
    }
    return name;
  }
}
