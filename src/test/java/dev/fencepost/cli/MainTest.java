package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** However a command ends, it ends the program, with a line and a code. */
class MainTest {
  private final StringWriter err = new StringWriter();

  private interface Writing {
    void write() throws IOException;
  }

  private int run(Writing writing, String... arguments) {
    Writer out =
        new Writer() {
          @Override
          public void write(char[] chars, int offset, int length) throws IOException {
            writing.write();
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    return Main.run(new PrintWriter(out), new PrintWriter(err), arguments);
  }

  @Test
  void anErrorIsALineAndACodeToo() {
    int code =
        run(
            () -> {
              throw new NoClassDefFoundError("com/example/Library");
            },
            "check-config",
            "-c",
            "conf/fencepost.yaml");

    assertThat(code).isEqualTo(1);
    assertThat(err.toString().lines())
        .containsExactly("fencepost: java.lang.NoClassDefFoundError: com/example/Library");
  }

  @Test
  void whatCouldNotBeWrittenIsNotDone() {
    int code =
        run(
            () -> {
              throw new IOException("no space left");
            },
            "check-config",
            "-c",
            "conf/fencepost.yaml");

    assertThat(code).isEqualTo(1);
    assertThat(err.toString().lines())
        .containsExactly("fencepost: what it prints could not be written");
  }

  /** As with {@code head}: said to nobody, and no success either. */
  @ParameterizedTest
  @CsvSource({"Broken pipe, 141, 0", "No space left on device, 1, 1"})
  void aReaderThatHasGoneIsToldNothing(String failure, int expected, int lines) {
    OutputStream failing =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException(failure);
          }
        };
    int code =
        Main.run(
            StandardOutput.to(failing),
            new PrintWriter(err),
            "check-config",
            "-c",
            "conf/fencepost.yaml");

    assertThat(code).isEqualTo(expected);
    assertThat(err.toString().lines()).hasSize(lines);
  }
}
