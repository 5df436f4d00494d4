package dev.fencepost.cli;

import dev.fencepost.boot.Demo;
import dev.fencepost.embedded.DemoPlan;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code fencepost demo}. */
@Command(
    name = "demo",
    description = {
      "Shows the whole product on an embedded PostgreSQL and an embedded broker:",
      "events through outbox, relay, broker and worker, with every kind of failure in the mix."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost demo",
      "  fencepost demo --events 5000 --json",
      "  fencepost demo --stay"
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class DemoCommand implements Callable<Integer> {

  private static final int CONSOLE_PORT = 8077;

  @Spec private CommandSpec spec;
  @ParentCommand private RootCommand root;

  @Option(
      names = "--events",
      paramLabel = "N",
      defaultValue = "2000",
      description = "How many events, at least 100; default ${DEFAULT-VALUE}.")
  private int events;

  @Option(names = "--stay", description = "Keep it up with the console until Ctrl-C.")
  private boolean stay;

  @Option(names = "--json", description = "End with one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    if (events < DemoPlan.least()) {
      throw new ParameterException(
          spec.commandLine(), "--events " + events + ": at least " + DemoPlan.least());
    }
    Logs.silent(root.verbose());
    PrintWriter out = spec.commandLine().getOut();
    StepLine line = new StepLine(spec.commandLine().getErr());
    Demo demo = new Demo(events, stay ? CONSOLE_PORT : 0, line::show);
    Demo.Result result =
        demo.run(
            so -> {
              line.clear();
              print(out, so);
              if (stay) {
                out.println(
                    "The console is at http://127.0.0.1:" + CONSOLE_PORT + "/, Ctrl-C ends.");
                out.flush();
                new CountDownLatch(1).await();
              }
            });
    return result.agree() ? ExitCode.DONE : ExitCode.FAILED;
  }

  private void print(PrintWriter out, Demo.Result result) {
    if (json) {
      out.println(
          new JsonObject()
              .put("expected", object(result.expected()))
              .put("actual", object(result.actual()))
              .put("agree", result.agree())
              .encode());
    } else {
      table(out, result);
    }
    out.flush();
  }

  private static JsonObject object(Map<String, Long> counts) {
    JsonObject object = new JsonObject();
    counts.forEach(object::put);
    return object;
  }

  private static void table(PrintWriter out, Demo.Result result) {
    out.printf("%-32s %10s %10s%n", "", "expected", "actual");
    result
        .expected()
        .forEach(
            (name, expected) -> {
              long actual = result.actual().getOrDefault(name, 0L);
              out.printf(
                  "%-32s %10d %10d%s%n",
                  name.replace('_', ' '), expected, actual, expected == actual ? "" : "  <--");
            });
    out.println(
        result.agree()
            ? "Everything is as it must be."
            : "What came of it is not what must come of it.");
  }
}
