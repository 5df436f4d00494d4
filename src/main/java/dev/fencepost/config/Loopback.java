package dev.fencepost.config;

import java.util.regex.Pattern;

/**
 * Which hosts are this machine whatever a name server says: {@code localhost} and the loopback
 * addresses. Any other name may resolve to whatever its owner likes.
 */
public final class Loopback {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";
  private static final String V6 = "::1|0:0:0:0:0:0:0:1";
  private static final Pattern HOST =
      Pattern.compile(
          "localhost|127(\\." + OCTET + "){3}|" + V6 + "|\\[(" + V6 + ")]",
          Pattern.CASE_INSENSITIVE);

  private Loopback() {}

  /**
   * Looks nothing up.
   *
   * @param host a name or an address, an IPv6 address with its brackets or without
   */
  public static boolean is(String host) {
    return HOST.matcher(host).matches();
  }
}
