package dev.fencepost.cli;

import picocli.CommandLine.Parameters;

/** Which event at which consumer. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class EventName {
  @Parameters(index = "0", paramLabel = "CONSUMER", description = "The consumer's name.")
  private String consumer;

  @Parameters(index = "1", paramLabel = "EVENT_ID", description = "The event's id.")
  private String eventId;

  String consumer() {
    return consumer;
  }

  String eventId() {
    return eventId;
  }

  @Override
  public String toString() {
    return TextTable.printable(consumer + " " + eventId);
  }
}
