package dev.fencepost.bench;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Who can be measured beside the product, by the word used in options and tables alike. */
enum Peer {
  PERFTEST("perftest"),
  DEBEZIUM("debezium"),
  SPRING_POLLER("spring-poller", "spring"),
  GRUELBOX("gruelbox"),
  NAMASTACK("namastack"),
  BARE_CONSUMER("bare-consumer", "bare"),
  SPRING_BATCH("spring-batch", "spring"),
  SPRING_INBOX("spring-inbox", "spring"),
  DB_SCHEDULER("db-scheduler"),
  JOBRUNR("jobrunr"),
  GRAPHILE_WORKER("graphile-worker", "graphile");

  /** Invites nobody: the product alone is measured. */
  static final String NONE = "none";

  private final String word;
  private final String family;

  Peer(String word) {
    this(word, word);
  }

  Peer(String word, String family) {
    this.word = word;
    this.family = family;
  }

  String word() {
    return word;
  }

  /** All that a word stands for: a peer or a family of them; none when it is unknown. */
  static List<Peer> named(String word) {
    return Stream.of(values())
        .filter(peer -> peer.word.equals(word) || peer.family.equals(word))
        .toList();
  }

  /** Every word with what it stands for, for people. */
  static String words() {
    String families =
        Stream.of(values())
            .filter(peer -> !peer.family.equals(peer.word))
            .collect(
                Collectors.groupingBy(
                    peer -> peer.family,
                    java.util.TreeMap::new,
                    Collectors.mapping(peer -> peer.word, Collectors.joining(" and "))))
            .entrySet()
            .stream()
            .map(each -> each.getKey() + " (" + each.getValue() + ")")
            .collect(Collectors.joining(", "));
    return Arrays.stream(values()).map(Peer::word).collect(Collectors.joining(", "))
        + "; families "
        + families
        + "; or "
        + NONE;
  }
}
