package dev.fencepost.config;

import java.time.Duration;

/** Rules between two durations of one section. */
final class Bounds {
  private Bounds() {}

  record Named(String key, Duration value) {
    String shown() {
      return key + " " + DurationText.format(value);
    }
  }

  static void notAbove(Section section, Named value, Named most) {
    if (section.sound(value.key(), most.key()) && value.value().compareTo(most.value()) > 0) {
      section.fault(
          value.key(),
          DurationText.format(value.value()) + " is above " + most.shown(),
          "at most " + DurationText.format(most.value()));
    }
  }
}
