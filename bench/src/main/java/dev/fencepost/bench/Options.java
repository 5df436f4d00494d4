package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * What was asked for.
 *
 * @param scenarios names; all when empty
 * @param peers which peers take part; all when empty
 * @param shortForm only shows that everything runs
 * @param huge backlogs of 10 million rows, too
 */
record Options(
    List<String> scenarios,
    List<String> peers,
    int warmUps,
    int rounds,
    boolean shortForm,
    boolean huge) {

  /** What the short form runs unless others are named: it has two minutes. */
  private static final List<String> QUICK_SCENARIOS = List.of("relay", "worker", "latency-500");

  private static final List<String> QUICK_PEERS = List.of("perftest", "spring", "debezium");

  List<String> chosen(List<String> all) {
    List<String> unless = shortForm ? QUICK_SCENARIOS : all;
    return scenarios.isEmpty() ? unless : scenarios;
  }

  static Options of(String... arguments) {
    List<String> scenarios = new ArrayList<>();
    List<String> peers = List.of();
    int rounds = 0;
    int warmUps = 2;
    boolean shortForm = false;
    boolean huge = false;
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--rounds" -> rounds = Integer.parseInt(arguments[++i]);
        case "--warm-ups" -> warmUps = Integer.parseInt(arguments[++i]);
        case "--peers" -> peers = List.of(arguments[++i].split(","));
        case "--short" -> shortForm = true;
        case "--huge" -> huge = true;
        default -> scenarios.add(arguments[i]);
      }
    }
    int defaultRounds = shortForm ? 1 : 5;
    int wanted = rounds == 0 ? defaultRounds : rounds;
    return new Options(scenarios, peers, shortForm ? 0 : warmUps, wanted, shortForm, huge);
  }

  boolean invites(String peer) {
    List<String> invited = peers.isEmpty() && shortForm ? QUICK_PEERS : peers;
    return invited.isEmpty() || invited.contains(peer);
  }

  /** So many in earnest, a few in the short form. */
  int scaled(int count) {
    return shortForm ? Math.max(1000, count / 50) : count;
  }

  int seconds(int seconds) {
    return shortForm ? Math.max(2, seconds / 10) : seconds;
  }

  Series series() {
    return new Series(warmUps, rounds);
  }
}
