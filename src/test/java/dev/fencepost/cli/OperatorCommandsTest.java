package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.BulkResult;
import dev.fencepost.operations.DeadLetterChanges;
import dev.fencepost.operations.FakeStores;
import dev.fencepost.operations.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class OperatorCommandsTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final FakeStores stores = new FakeStores();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  @TempDir private Path folder;
  private CommandLine line;

  /** Of each question asked. */
  private final List<Duration> deadlines = new ArrayList<>();

  /** How many are answered; later ones are not in time. */
  private int answers = Integer.MAX_VALUE;

  @BeforeEach
  void build() throws Exception {
    Path file = folder.resolve("fencepost.yaml");
    Files.writeString(file, "database: {uris: [\"postgresql://localhost/none\"]}\n");
    line =
        new CommandLine(new RootCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setExecutionExceptionHandler(
                (failure, command, parsed) -> {
                  command.getErr().println(failure.getMessage());
                  return ExitCode.of(failure);
                });
    useFakes(line);
  }

  private void useFakes(CommandLine command) {
    if (command.getCommand() instanceof OperatorCommand operators) {
      operators.sessions = new Fakes();
    }
    command.getSubcommands().values().forEach(this::useFakes);
  }

  private final class Fakes implements Sessions {
    @Override
    public Session open(FencepostConfig config) {
      return new Session() {
        @Override
        public <T> T ask(Duration deadline, Function<Operations, Future<T>> question) {
          deadlines.add(deadline);
          if (deadlines.size() > answers) {
            throw new FencepostException(FailureKind.TIMEOUT, "not done within 60 s");
          }
          Future<T> answer = question.apply(stores.operations());
          if (answer.failed()) {
            throw (RuntimeException) answer.cause();
          }
          return answer.result();
        }

        @Override
        public void close() {}
      };
    }
  }

  private int run(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "-c";
    all[arguments.length + 1] = folder.resolve("fencepost.yaml").toString();
    return line.execute(all);
  }

  @Test
  void statusIsATableOrJson() {
    stores.lanes.add(
        FakeStores.row(
            "lane", 3L, "owner", "r-1", "fence", 7L, "backlog", 12L, "lag_cause", "key_parked"));

    assertThat(run("status")).isZero();
    assertThat(out.toString()).contains("LANE", "key_parked", "r-1", "QUEUE");
    assertThat(run("status", "--json")).isZero();
    JsonObject json = new JsonObject(out.toString());
    assertThat(json.getJsonArray("lanes").getJsonObject(0).getInteger("fence")).isEqualTo(7);
    assertThat(json.containsKey("queues")).isTrue();
  }

  @Test
  void listsGoOnFromPageToPage() {
    for (int i = 1000; i < 2500; i++) {
      stores.activity("mail", "e-" + i, ActivityState.RUNNING, 1);
    }

    assertThat(run("activities", "list", "--json")).isZero();
    assertThat(new JsonArray(out.toString())).hasSize(1500);
    assertThat(run("activities", "list")).isZero();
    assertThat(out.toString().lines()).hasSize(101);
    assertThat(err.toString()).startsWith("there are more: --after ");
    String after = err.toString().strip().substring("there are more: --after ".length());
    assertThat(run("activities", "list", "--after", after, "--limit", "1")).isZero();
    assertThat(out.toString()).contains("e-1100");
    assertThat(run("activities", "list", "--state", "dead")).isZero();
    assertThat(out.toString().strip()).isEqualTo("no activity passes this filter");
  }

  /** However many pages there are: each is printed as it comes, within a deadline of its own. */
  @Test
  void aListInJsonIsPrintedPageByPage() {
    for (int i = 1000; i < 3500; i++) {
      stores.activity("mail", "e-" + i, ActivityState.RUNNING, 1);
    }
    assertThat(run("activities", "list", "--json")).isZero();
    JsonArray whole = new JsonArray(out.toString());
    assertThat(whole).hasSize(2500);
    assertThat(out.toString().strip()).isEqualTo(whole.encodePrettily());
    assertThat(deadlines).containsExactly(MINUTE, MINUTE, MINUTE);

    deadlines.clear();
    answers = 2;
    assertThat(run("activities", "list", "--json")).isEqualTo(3);
    assertThat(out.toString()).contains("e-1000", "e-2999").doesNotContain("e-3000");
    assertThatThrownBy(() -> new JsonArray(out.toString())).isInstanceOf(DecodeException.class);
    String cut = err.toString().strip();
    assertThat(cut)
        .matches(
            "the list is cut off after 2000 rows \\(to go on: --after \\S+\\): not done within 60 s");

    answers = Integer.MAX_VALUE;
    String after = cut.replaceAll(".*--after (\\S+)\\).*", "$1");
    assertThat(run("activities", "list", "--json", "--after", after)).isZero();
    assertThat(new JsonArray(out.toString())).hasSize(500);
    assertThat(run("activities", "list", "--state", "dead", "--json")).isZero();
    assertThat(new JsonArray(out.toString())).isEmpty();
  }

  @Test
  void aListThatCannotBeWrittenFailsAndSaysWhereToGoOn() {
    for (int i = 1000; i < 3500; i++) {
      stores.activity("mail", "e-" + i, ActivityState.RUNNING, 1);
    }
    assertThat(run("activities", "list", "--json")).isZero();
    int rows = out.getBuffer().indexOf("e-2500"); // in the second page of three
    int whole = out.getBuffer().length();

    line.setOut(new PrintWriter(new Disk(rows)));
    assertThat(run("activities", "list", "--json")).isEqualTo(1);
    String cut = err.toString().strip();
    assertThat(cut)
        .matches("the list is cut off: it could not be written \\(to go on: --after \\S+\\)");
    line.setOut(new PrintWriter(new Disk(whole - 2)));
    assertThat(run("activities", "list", "--json")).as("its end").isEqualTo(1);
    line.setOut(new PrintWriter(new Disk(whole)));
    assertThat(run("activities", "list", "--json")).isZero();

    line.setOut(new PrintWriter(out));
    String after = cut.replaceAll(".*--after (\\S+)\\).*", "$1");
    assertThat(run("activities", "list", "--json", "--after", after)).isZero();
    assertThat(new JsonArray(out.toString()).getJsonObject(0).getString("event_id"))
        .isEqualTo("e-2000");
  }

  /** Takes so many characters. */
  private static final class Disk extends Writer {
    private int left;

    Disk(int size) {
      this.left = size;
    }

    @Override
    public void write(char[] chars, int offset, int length) throws IOException {
      left -= length;
      if (left < 0) {
        throw new IOException("no space left");
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void theAuditLogIsAListAsTheOthersAre() {
    stores.audited("anna", "redrive", "e-1", "the remote is back");
    stores.audited("berta", "outbox_skip", "e-2", "a test order");

    assertThat(run("audit", "list")).isZero();
    assertThat(out.toString())
        .containsSubsequence(
            "AT", "ACTOR", "ACTION", "berta", "outbox_skip", "a test order", "anna", "redrive");
    assertThat(run("audit", "list", "--actor", "anna", "--json")).isZero();
    assertThat(new JsonArray(out.toString()).getJsonObject(0).getString("evidence"))
        .isEqualTo("the remote is back");
    assertThat(run("audit", "list", "--limit", "1")).isZero();
    String after = err.toString().strip().substring("there are more: --after ".length());
    assertThat(run("audit", "list", "--after", after)).isZero();
    assertThat(out.toString()).contains("e-1").doesNotContain("e-2");
    assertThat(run("audit", "list", "--event-id", "e-9")).isZero();
    assertThat(out.toString().strip()).isEqualTo("no line of the audit log passes this filter");
    assertThat(run("audit", "list", "--since", "1h", "--until", "2h")).isEqualTo(2);
  }

  @Test
  void anEventIsShownInOrderOfTime() {
    stores.activity("mail", "e-1", ActivityState.MANUAL_REVIEW, 2);

    assertThat(run("activities", "show", "mail", "e-1")).isZero();
    assertThat(out.toString())
        .containsSubsequence(
            "manual_review", "first seen", "attempt started", "attempt unknown", "by worker");
    assertThat(run("review", "show", "mail", "e-1", "--json")).isZero();
    assertThat(new JsonObject(out.toString()).getString("state")).isEqualTo("manual_review");
    assertThat(run("activities", "show", "mail", "e-2")).isEqualTo(1);
    assertThat(err.toString().strip()).isEqualTo("consumer mail knows no event e-2");
  }

  @Test
  void aReviewIsResolvedOnItsFence() {
    stores.activity("mail", "e-1", ActivityState.MANUAL_REVIEW, 2);
    String[] resolve = {
      "review",
      "resolve",
      "mail",
      "e-1",
      "--as",
      "failed",
      "--operator",
      "anna",
      "--evidence",
      "asked the bank",
      "--fence",
      "1"
    };

    assertThat(run(resolve)).isEqualTo(1);
    resolve[resolve.length - 1] = "2";
    assertThat(run(resolve)).isZero();
    assertThat(out.toString()).contains("e-1 is dead now, fence 3");
  }

  @Test
  void bulkNamesEachItemAndFailsWhenOneDoes() {
    for (long id = 1; id <= 3; id++) {
      stores.deadLetter(id, "mail", "retries_exhausted");
    }
    stores.onChange =
        id ->
            id == 2
                ? new DeadLetterChanges.Change(2, BulkResult.Outcome.FAILED, "its body is gone")
                : null;

    assertThat(run("dead-letters", "redrive", "--consumer", "mail", "--dry-run")).isZero();
    assertThat(out.toString()).contains("would_redrive", "dry run: 3 would be redriven");
    assertThat(stores.chunks).isEmpty();
    assertThat(run("dead-letters", "redrive", "--consumer", "mail", "--operator", "anna"))
        .isEqualTo(1);
    assertThat(out.toString()).contains("its body is gone", "2 redriven, 1 failed");
    assertThat(run("dead-letters", "redrive", "1", "2", "--operator", "anna", "--json"))
        .isEqualTo(1);
    assertThat(
            new JsonObject(out.toString())
                .getJsonArray("items").stream()
                    .map(item -> ((JsonObject) item).getString("outcome")))
        .containsExactly("unchanged", "failed");
    assertThat(run("dead-letters", "discard", "3", "--operator", "anna")).isZero();
    assertThat(run("dead-letters", "discard", "77", "--operator", "anna")).isEqualTo(1);
    assertThat(out.toString()).contains("77", "not_found");
  }

  @Test
  void deadLettersAreListedAndShown() {
    stores.deadLetter(1, "mail", "poison_message");

    assertThat(run("dead-letters", "list", "--json")).isZero();
    assertThat(new JsonArray(out.toString()).getJsonObject(0).getString("body"))
        .isEqualTo("{\"id\":1}");
    assertThat(run("dead-letters", "show", "1")).isZero();
    assertThat(out.toString()).contains("error_message  <b>boom</b>", "body           {\"id\":1}");
    assertThat(run("dead-letters", "list", "--state", "redriven")).isZero();
    assertThat(out.toString().strip()).isEqualTo("no dead letter passes this filter");
  }

  @Test
  void parkedRowsAreAskedForAndReplaysCounted() {
    stores.parked(7, "order-1", "missing", "exchange_missing");
    stores.replayable = 1234;

    assertThat(run("outbox", "parked")).isZero();
    assertThat(out.toString()).contains("order-1", "exchange_missing");
    assertThat(run("outbox", "retry", "order-1", "--operator", "anna")).isZero();
    assertThat(run("outbox", "redirect", "7", "--exchange", "orders", "--operator", "anna"))
        .isZero();
    assertThat(stores.requested).containsExactly("RETRY [7] anna ", "REDIRECT [7] anna orders");
    assertThat(run("outbox", "skip", "order-9", "--operator", "anna")).isEqualTo(1);
    assertThat(run("outbox", "replay", "--since", "2025-03-30", "--dry-run")).isZero();
    assertThat(out.toString()).contains("dry run: 1234 rows would be replayed");
    assertThat(err.toString()).as("no progress line in a pipe").isEmpty();
    assertThat(run("outbox", "replay", "--since", "2025-03-30", "--json")).isZero();
    assertThat(new JsonObject(out.toString()).getInteger("replayed")).isEqualTo(1234);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "activities list --state stuck | state: \"stuck\" is not allowed; use one of running",
        "activities show mail | Missing required parameter: 'EVENT_ID'",
        "review resolve mail e-1 --as done --operator a --evidence b | as: \"done\" is not allowed",
        "review resolve mail e-1 --as retry --evidence b | operator: is missing",
        "dead-letters redrive --operator anna | all: is missing; give ids or a filter",
        "dead-letters redrive --consumer mail | operator: is missing",
        "dead-letters redrive 1 --consumer mail --operator a | ids: use ids or a filter, not both",
        "dead-letters redrive 1 --rate 0 --operator a | rate: \"0\" is not allowed",
        "dead-letters list --since soon | since: \"soon\" is not allowed",
        "outbox retry order-1 | operator: is missing",
        "outbox redirect order-1 --operator a | Missing required option: '--exchange=E'",
        "outbox replay --since 2030-01-01 --until 2029-01-01 | until: \"2029-01-01T00:00:00Z\"",
        "completion fish | Invalid value for positional parameter"
      })
  void wrongUseIsExplainedAndExits2(String arguments, String expected) {
    assertThat(run(arguments.split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(expected);
    assertThat(stores.chunks).isEmpty();
  }

  @Test
  void aGroupNamesItsSubcommands() {
    assertThat(line.execute("activities")).isEqualTo(2);
    assertThat(err.toString()).contains("Missing subcommand: one of list, show");
  }

  @Test
  void anOutageExits3() {
    stores.deadLetter(1, "mail", "poison_message");
    stores.onChange =
        id -> {
          throw new FencepostException(FailureKind.DATABASE_UNREACHABLE, "cannot reach it");
        };

    assertThat(run("dead-letters", "redrive", "1", "--operator", "anna")).isEqualTo(3);
    assertThat(err.toString()).contains("cannot reach it");
  }

  @Test
  void everyCommandHasHelpWithExamples() {
    everyHelp(line);
  }

  private static void everyHelp(CommandLine command) {
    for (CommandLine sub : command.getSubcommands().values()) {
      if (sub.getCommand().getClass().getPackageName().startsWith("dev.fencepost")) {
        assertThat(sub.getUsageMessage())
            .as(sub.getCommandSpec().qualifiedName())
            .containsPattern(
                "Examples?:\\s+(source <\\()?" + sub.getCommandSpec().qualifiedName(" "));
        everyHelp(sub);
      }
    }
  }

  @Test
  void bashCompletesCommandsAndOptions() throws Exception {
    assertThat(line.execute("completion", "bash")).isZero();
    Path script = folder.resolve("completion.bash");
    Files.writeString(
        script,
        out
            + "\ncompopt() { :; }\nCOMP_WORDS=(fencepost dead-letters re); COMP_CWORD=2; _complete_fencepost\n"
            + "echo \"${COMPREPLY[@]}\"\n"
            + "COMP_WORDS=(fencepost outbox replay --dr); COMP_CWORD=3; _complete_fencepost\n"
            + "echo \"${COMPREPLY[@]}\"\n");

    Process bash = new ProcessBuilder("bash", script.toString()).redirectErrorStream(true).start();
    List<String> printed = new String(bash.getInputStream().readAllBytes()).lines().toList();

    assertThat(bash.waitFor()).isZero();
    assertThat(printed).element(0).asString().isEqualTo("redrive");
    assertThat(printed).element(1).asString().contains("--dry-run");
    out.getBuffer().setLength(0);
    assertThat(line.execute("completion", "zsh")).isZero();
    assertThat(out.toString()).startsWith("autoload -U +X compinit");
  }

  @Test
  void cellsCannotSteerTheTerminal() {
    StringWriter text = new StringWriter();
    TextTable table = new TextTable("N", "TEXT");
    table.row(7, "a\u001b[31mred\nb\u202eevil" + "x".repeat(80));
    table.row(12, null);
    PrintWriter writer = new PrintWriter(text);
    table.print(writer);
    writer.flush();

    assertThat(text.toString().lines())
        .element(1)
        .asString()
        .startsWith(" 7  a·[31mred·b·evilxxx")
        .endsWith("…")
        .hasSize(4 + 60);
    assertThat(text.toString().lines()).element(2).asString().isEqualTo("12  -");
    StringWriter whole = new StringWriter();
    TextTable uncut = new TextTable("AT", "TEXT").lastUncut();
    uncut.row(java.time.Instant.parse("2025-03-31T12:00:00.123456Z"), "x".repeat(80));
    uncut.print(new PrintWriter(whole, true));
    assertThat(whole.toString()).contains("2025-03-31T12:00:00.123Z  " + "x".repeat(80));
  }

  @Test
  void progressIsShownOnATerminalOnly() {
    StringWriter text = new StringWriter();
    try (ProgressLine line = new ProgressLine(new PrintWriter(text), "redriven", true)) {
      line.done(100);
    }
    assertThat(text.toString()).contains("redriven 100 …").endsWith("\r\u001b[K");
    StringWriter none = new StringWriter();
    try (ProgressLine line = new ProgressLine(new PrintWriter(none), "redriven", false)) {
      line.done(100);
    }
    assertThat(none.toString()).isEmpty();
  }
}
