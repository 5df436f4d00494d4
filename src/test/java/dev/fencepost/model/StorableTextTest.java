package dev.fencepost.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class StorableTextTest {
  @Test
  void plainTextStaysAsItIs() {
    assertThat(StorableText.of("zażółć 🐘", 64)).isEqualTo("zażółć 🐘");
    assertThat(StorableText.ofNullable(null, 64)).isNull();
  }

  @Test
  void replacesWhatCannotBeStored() {
    assertThat(StorableText.of("a\0b", 64)).isEqualTo("a\uFFFDb");
    assertThat(StorableText.of("a\uD83Db\uDC18", 64)).isEqualTo("a\uFFFDb\uFFFD");
  }

  @Test
  void keepsTheHeadAndTheTailOfWhatIsTooLong() {
    String cut = StorableText.of("head" + "x".repeat(100_000) + "tail", 1000);
    assertThat(cut).startsWith("head").endsWith("tail").contains(" … ");
    assertThat(cut.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(990, 1000);
  }

  @Property
  void isAlwaysStorableAndBounded(
      @ForAll("anything") String text, @ForAll @IntRange(min = 16, max = 200) int max)
      throws CharacterCodingException {
    String stored = StorableText.of(text, max);
    assertThat(stored).doesNotContain("\0");
    int bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(stored)).remaining();
    assertThat(bytes).isLessThanOrEqualTo(max);
    assertThat(StorableText.of(stored, max)).isEqualTo(stored);
  }

  /** UTF-16 units of all sorts, halves of pairs and NUL included. */
  @Provide
  Arbitrary<String> anything() {
    Arbitrary<Character> unit =
        Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(6, Arbitraries.chars().range('a', 'z')),
            net.jqwik.api.Tuple.of(2, Arbitraries.chars().range('\uD800', '\uDFFF')),
            net.jqwik.api.Tuple.of(2, Arbitraries.chars().all()),
            net.jqwik.api.Tuple.of(1, Arbitraries.just('\0')));
    return unit.list().ofMaxSize(300).map(StorableTextTest::join);
  }

  private static String join(java.util.List<Character> units) {
    StringBuilder text = new StringBuilder();
    units.forEach(text::append);
    return text.toString();
  }
}
