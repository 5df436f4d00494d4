package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.Receipt;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code check-config} says of the classes that handlers name. */
class CheckConfigTest {

  private static final String PLACE = "queues.app.activities.order.placed.handler.class: ";

  @TempDir private Path folder;

  /** A handler as users write them. */
  public static final class Fitting implements BlockingActivityHandler {
    @Override
    public Receipt run(ActivityContext context) {
      return Receipt.succeeded();
    }
  }

  private record Said(int code, List<String> out, List<String> err) {}

  private Said check(String type, String... options) throws IOException {
    return checkFile(
        "queues: {app: {queue: app, activities: {order.placed: {kind: pure, handler: {class: \""
            + type
            + "\"}}}}}\n",
        options);
  }

  private Said checkFile(String yaml, String... options) throws IOException {
    Path file = folder.resolve("fencepost.yaml");
    Files.writeString(file, yaml);
    List<String> line = new ArrayList<>(List.of("check-config", "-c", file.toString()));
    line.addAll(List.of(options));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(new PrintWriter(out), new PrintWriter(err), line.toArray(String[]::new));
    return new Said(
        code,
        out.toString().lines().map(each -> each.replace(file + ": ", "")).toList(),
        err.toString().lines().map(each -> each.replace(file + ": ", "")).toList());
  }

  @Test
  void aClassThatFitsIsNoFault() throws IOException {
    Said said = check(Fitting.class.getName(), "--strict");

    assertThat(said.code()).isZero();
    assertThat(said.out()).containsExactly("no faults");
    assertThat(said.err()).isEmpty();
  }

  @Test
  void aMissingClassIsNamedAndMayBeElsewhere() throws IOException {
    Said said = check("com.example.RenderInvoice");

    assertThat(said.code()).isZero();
    assertThat(said.out()).containsExactly("no faults");
    assertThat(said.err())
        .singleElement()
        .asString()
        .startsWith("not checked: " + PLACE + "com.example.RenderInvoice is not on the class path")
        .contains("FENCEPOST_CLASSPATH");
  }

  @Test
  void aMissingClassIsAFaultWhereAllAreToBeThere() throws IOException {
    Said said = check("com.example.RenderInvoice", "--strict");

    assertThat(said.code()).isEqualTo(2);
    assertThat(said.out())
        .singleElement()
        .asString()
        .startsWith(PLACE + "com.example.RenderInvoice is not on the class path");
  }

  @Test
  void aClassThatIsNoHandlerIsAFault() throws IOException {
    Said said = check("java.lang.Object");

    assertThat(said.code()).isEqualTo(2);
    assertThat(said.out())
        .singleElement()
        .asString()
        .startsWith(PLACE + "java.lang.Object implements none of the handlers");
    assertThat(said.err()).isEmpty();
  }

  @Test
  void addressesThatTheServiceCouldNotUseAreFaults() throws IOException {
    Said said =
        checkFile(
            """
            database:
              uris:
                - postgresql://app:geheim@h/d?sslmode=require
                - postgresql://app:geheim@h/d?sslmod=require
                - postgresql://app:geheim@h/d?sslmode=foo
                - postgresql://app:geheim@h/d?connect_timeout=0
            broker:
              uris:
                - amqp://app:geheim@h/?verfy=verify_peer
                - amqp://app:geheim@h/one/two
                - amqp://app:geheim@h/one
            queues:
              app: {queue: app, activities: {t: {kind: pure, handler: {class: java.lang.Object}}}}
            """);

    assertThat(said.code()).isEqualTo(2);
    assertThat(said.out())
        .hasSize(6)
        .noneMatch(line -> line.contains("geheim"))
        .anyMatch(line -> line.startsWith("database.uris[1]: parameter \"sslmod\" is not one of"))
        .anyMatch(line -> line.startsWith("database.uris[2]: sslmode=foo is not one of"))
        .anyMatch(line -> line.startsWith("database.uris[3]: connect_timeout=0 is no number"))
        .anyMatch(line -> line.startsWith("broker.uris[0]: unknown parameter 'verfy'"))
        .anyMatch(line -> line.startsWith("broker.uris[1]: the virtual host has more than one"))
        .anyMatch(line -> line.startsWith("queues.app.activities.t.handler.class: "));
  }

  @Test
  void theExampleHasNoFault() {
    StringWriter said = new StringWriter();

    int code =
        Main.run(
            new PrintWriter(said),
            new PrintWriter(said),
            "check-config",
            "--strict",
            "-c",
            "conf/fencepost.yaml");

    assertThat(code).as(said.toString()).isZero();
  }
}
