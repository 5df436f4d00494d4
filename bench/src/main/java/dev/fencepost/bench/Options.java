package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * What was asked for.
 *
 * @param help only says what can be asked for
 * @param scenarios names; all when empty
 * @param peers which peers take part; null when nobody was named
 * @param warmUps rounds before those that count; {@link #UNSET} when not named
 * @param rounds rounds that count; {@link #UNSET} when not named
 * @param shortForm only shows that everything runs
 * @param huge backlogs of 10 million rows, too
 * @param publish writes the tables into the note, too
 * @param profile makes flame graphs of the product
 */
record Options(
    boolean help,
    List<String> scenarios,
    Set<Peer> peers,
    int warmUps,
    int rounds,
    boolean shortForm,
    boolean huge,
    boolean publish,
    boolean profile) {

  static final String USAGE =
      "bench/run [scenario…] [--rounds N] [--warm-ups N] [--peers a,b] [--short] [--huge] [--profile]"
          + " [--publish]";

  /**
   * The compiler is most of a process's own CPU time in its first hundreds of thousands of messages.
   */
  static final int UNTIL_COMPILED = 8;

  static final int FEW = 2;

  private static final int UNSET = -1;
  private static final int ROUNDS = 5;
  private static final int MOST = 1000;

  /** What the short form runs unless others are named: it has two minutes. */
  private static final List<String> QUICK_SCENARIOS = List.of("relay", "worker", "latency-500");

  private static final Set<Peer> QUICK_PEERS =
      EnumSet.of(Peer.PERFTEST, Peer.SPRING_POLLER, Peer.SPRING_BATCH);

  /** Something that cannot be asked for. */
  static final class Refused extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    Refused(String message) {
      super(message);
    }
  }

  static Options of(String... arguments) {
    return new Reader().read(Arrays.asList(arguments));
  }

  /** Takes one argument after the other. */
  private static final class Reader {
    private boolean help;
    private final List<String> scenarios = new ArrayList<>();
    private Set<Peer> peers;
    private int warmUps = UNSET;
    private int rounds = UNSET;
    private boolean shortForm;
    private boolean huge;
    private boolean publish;
    private boolean profile;

    Options read(List<String> arguments) {
      Iterator<String> all = arguments.iterator();
      while (all.hasNext()) {
        take(all.next(), all);
      }
      if (publish && (shortForm || profile)) {
        throw new Refused(
            "--publish: figures of --short say nothing, and those of --profile have the profiler's cost in"
                + " them; name only one of them");
      }
      return new Options(
          help, scenarios, peers, warmUps, rounds, shortForm, huge, publish, profile);
    }

    private void take(String argument, Iterator<String> rest) {
      switch (argument) {
        case "--help", "-h" -> help = true;
        case "--rounds" -> rounds = number(argument, 1, rest);
        case "--warm-ups" -> warmUps = number(argument, 0, rest);
        case "--peers" -> peers = peers(value(argument, "names, or " + Peer.NONE, rest));
        case "--short" -> shortForm = true;
        case "--huge" -> huge = true;
        case "--publish" -> publish = true;
        case "--profile" -> profile = true;
        default -> scenarios.add(scenario(argument));
      }
    }

    private static String scenario(String name) {
      if (name.startsWith("-")) {
        throw new Refused("no option " + name + "; there are: " + USAGE);
      }
      if (!Scenarios.names().contains(name)) {
        throw new Refused(
            "no scenario \"" + name + "\"; there are: " + String.join(", ", Scenarios.names()));
      }
      return name;
    }

    private static String value(String option, String what, Iterator<String> rest) {
      if (!rest.hasNext()) {
        throw new Refused(option + " needs " + what);
      }
      return rest.next();
    }

    private static int number(String option, int least, Iterator<String> rest) {
      String what = "a whole number from " + least + " to " + MOST;
      String text = value(option, what, rest);
      try {
        int number = Integer.parseInt(text);
        if (number >= least && number <= MOST) {
          return number;
        }
      } catch (NumberFormatException e) {
        // Refused below.
      }
      throw new Refused(option + " needs " + what + ", not \"" + text + "\"");
    }

    private static Set<Peer> peers(String words) {
      Set<Peer> named = EnumSet.noneOf(Peer.class);
      if (words.equals(Peer.NONE)) {
        return named;
      }
      for (String word : words.split(",", -1)) {
        List<Peer> found = Peer.named(word);
        if (found.isEmpty()) {
          throw new Refused("--peers: no peer \"" + word + "\"; there are: " + Peer.words());
        }
        named.addAll(found);
      }
      return named;
    }
  }

  List<String> chosen() {
    List<String> unless = shortForm ? QUICK_SCENARIOS : Scenarios.names();
    return scenarios.isEmpty() ? unless : scenarios;
  }

  boolean invites(Peer peer) {
    if (peers != null) {
      return peers.contains(peer);
    }
    return !shortForm || QUICK_PEERS.contains(peer);
  }

  /** So many in earnest, a few in the short form. */
  int scaled(int count) {
    return shortForm ? Math.max(1000, count / 5) : count;
  }

  int seconds(int seconds) {
    return shortForm ? Math.max(2, seconds / 10) : seconds;
  }

  /** Rounds that only warm up: what was asked for, else so many, but none in the short form. */
  int warmUpsOr(int unlessNamed) {
    if (warmUps != UNSET) {
      return warmUps;
    }
    return shortForm ? 0 : unlessNamed;
  }

  /** Rounds that count: what was asked for, else so many, but one in the short form. */
  int roundsOr(int unlessNamed) {
    if (rounds != UNSET) {
      return rounds;
    }
    return shortForm ? 1 : unlessNamed;
  }

  int roundsThatCount() {
    return roundsOr(ROUNDS);
  }

  /** What can be asked for, from the code itself. */
  static String manual() {
    StringBuilder text = new StringBuilder(USAGE).append("\n\nscenarios (all unless some are named)\n");
    Scenarios.ALL.forEach(
        (name, scenario) -> text.append("  %-16s %s%n".formatted(name, scenario.about())));
    return text.append(
            """

            options
              --rounds N     rounds that count, from 1; %d unless a scenario says otherwise
              --warm-ups N   rounds before them, from 0; %d where throughput is measured, else %d
              --peers a,b    who is measured beside the product, else everybody:
                             %s
              --short        two minutes that only show that everything runs: %s
                             with %s, few messages, one round
              --huge         a backlog of 10 million rows beside those of 10 thousand and one million
              --profile      flame graphs of the product's process, by thread, of the rounds that count:
                             bench/target/profiles
              --publish      writes the tables into docs/performance.md, too

            Tables are printed and written to bench/target/results/*.md, each round's figures to *.json there.
            Ends with 0, with 1 when a scenario failed, with 2 when asked for what there is not.
            """
                .formatted(
                    ROUNDS,
                    UNTIL_COMPILED,
                    FEW,
                    Peer.words(),
                    String.join(", ", QUICK_SCENARIOS),
                    String.join(", ", QUICK_PEERS.stream().map(Peer::word).toList())))
        .toString();
  }
}
