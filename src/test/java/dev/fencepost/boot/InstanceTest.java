package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class InstanceTest {
  @Test
  void w17_aRestartedNodeIsAnotherOwner() {
    assertThat(Stream.generate(Instance::name).limit(1_000).distinct().toList()).hasSize(1_000);
  }
}
