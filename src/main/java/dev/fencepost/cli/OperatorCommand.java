package dev.fencepost.cli;

import dev.fencepost.operations.ActivityHistory;
import dev.fencepost.operations.BulkResult;
import dev.fencepost.operations.Operations;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What commands for operators have in common: a configuration, a question, text or JSON. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
abstract class OperatorCommand implements Callable<Integer> {
  static final Duration READING = Duration.ofSeconds(60);

  /** Long requests end by themselves; this only bounds a hang. */
  static final Duration WORKING = Duration.ofHours(24);

  @Spec private CommandSpec spec;
  @Mixin private ConfigFile config;

  @Option(names = "--json", description = "Print JSON; field names are the views' columns.")
  private boolean json;

  /** Another in tests. */
  Sessions sessions = new OperatorSessions();

  @Override
  public final Integer call() {
    try {
      return run();
    } finally {
      out().flush();
      err().flush();
    }
  }

  abstract int run();

  /** Whether the last column of a list is shown whole. */
  boolean lastUncut() {
    return false;
  }

  <T> T ask(Duration deadline, Function<Operations, Future<T>> question) {
    try (Sessions.Session session = sessions.open(config.load())) {
      return session.ask(deadline, question);
    }
  }

  boolean json() {
    return json;
  }

  PrintWriter out() {
    return spec.commandLine().getOut();
  }

  PrintWriter err() {
    return spec.commandLine().getErr();
  }

  void print(JsonObject object) {
    out().println(object.encodePrettily());
  }

  /**
   * Prints a list, page after page; JSON as the pages come, however many there are.
   *
   * @param columns {@code HEAD=column} pairs of the table for people
   */
  int printList(
      ListOptions options,
      String nothing,
      List<String> columns,
      Function<Operations, Function<Page.Request, Future<Page<ViewRow>>>> source) {
    List<ViewRow> found = new ArrayList<>();
    JsonRows array = new JsonRows(out());
    String next;
    try (Sessions.Session session = sessions.open(config.load())) {
      Pages pages = new Pages(session, source, options.limit(json), options.after());
      next = pages.read(json ? array::print : found::addAll);
    }
    if (json) {
      if (!array.end()) {
        return cutOff(next);
      }
    } else if (found.isEmpty()) {
      out().println(nothing);
    } else {
      table(found, columns).print(out());
    }
    if (next != null) {
      err().println("there are more: --after " + next);
    }
    return ExitCode.DONE;
  }

  private int cutOff(@Nullable String next) {
    if (StandardOutput.readerGone(out())) {
      return StandardOutput.READER_GONE;
    }
    String on = next == null ? "" : " (to go on: --after " + next + ")";
    err().println("the list is cut off: it could not be written" + on);
    return ExitCode.FAILED;
  }

  private TextTable table(List<ViewRow> rows, List<String> columns) {
    TextTable table =
        new TextTable(
            columns.stream().map(column -> column.toUpperCase(Locale.ROOT)).toArray(String[]::new));
    if (lastUncut()) {
      table.lastUncut();
    }
    rows.forEach(row -> table.row(columns.stream().map(row.columns()::get).toArray()));
    return table;
  }

  /** Every item with what came of it. */
  int printBulk(BulkResult result, String verb) {
    if (json) {
      print(result.toJson());
    } else {
      TextTable table = new TextTable("ID", "CONSUMER", "EVENT_ID", "OUTCOME", "DETAIL");
      result
          .items()
          .forEach(
              item ->
                  table.row(
                      item.id(),
                      item.what().text("consumer"),
                      item.what().text("event_id"),
                      item.outcome().wire(),
                      item.detail()));
      if (!table.isEmpty()) {
        table.print(out());
      }
      out().println(summary(result, verb));
    }
    if (result.stopped() != null) {
      err().println("stopped early: " + result.stopped());
    }
    return result.ok() ? ExitCode.DONE : ExitCode.FAILED;
  }

  private static String summary(BulkResult result, String verb) {
    String done =
        result.dryRun()
            ? "dry run: " + result.changed() + " would be " + verb
            : result.changed() + " " + verb;
    long unchanged = result.items().size() - result.changed() - result.failed();
    return done
        + (result.failed() > 0 ? ", " + result.failed() + " failed" : "")
        + (unchanged > 0 ? ", " + unchanged + " had been settled before" : "")
        + (result.more() ? ", there are more" : "");
  }

  /** An event's state and everything that happened to it. */
  int printHistory(ActivityHistory found) {
    if (json) {
      print(found.toJson());
      return ExitCode.DONE;
    }
    ViewRow activity = found.activity();
    if (activity == null) {
      out()
          .println(
              found.deadLetters().isEmpty()
                  ? "no activity: only what was done with its row of the outbox is known"
                  : "no activity: the message could not be read, only a dead letter is left");
    } else {
      printRow(activity);
    }
    out().println();
    TextTable table = new TextTable("AT", "WHAT", "DETAIL").lastUncut();
    found.timeline().forEach(m -> table.row(m.at(), m.what(), m.detail().strip()));
    table.print(out());
    return ExitCode.DONE;
  }

  /** Column by column; a body as text, or in base64 where it is none. */
  void printRow(ViewRow row) {
    JsonObject values = row.toJson();
    int width = row.columns().keySet().stream().mapToInt(String::length).max().orElse(0);
    values.forEach(
        value -> {
          if (value.getValue() != null) {
            String name = value.getKey() + " ".repeat(Math.max(0, width - value.getKey().length()));
            out().println(name + "  " + TextTable.printable(value.getValue().toString()));
          }
        });
  }
}
