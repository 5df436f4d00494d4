package dev.fencepost.cli;

import dev.fencepost.boot.Schema;
import dev.fencepost.config.FencepostConfig;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code fencepost migrate}. */
@Command(
    name = "migrate",
    description = "Creates or upgrades the schema. Starting it several times at once is safe.",
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost migrate -c conf/fencepost.yaml --dry-run",
      "  fencepost migrate -c conf/fencepost.yaml --application-role shop",
      "  fencepost migrate -c conf/fencepost.yaml --rebase"
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class MigrateCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ConfigFile config;

  @Option(names = "--dry-run", description = "Print the SQL and change nothing.")
  private boolean dryRun;

  @Option(
      names = "--application-role",
      paramLabel = "ROLE",
      description = "Grant this role what an application needs to write events, nothing else.")
  private @Nullable String role;

  @Option(
      names = "--rebase",
      description =
          "After a dump was restored into another cluster, or for another number of lanes: lay the "
              + "outbox anew. What is not published stays; what was is no longer kept for replay. "
              + "Stop every relay first.")
  private boolean rebase;

  @Override
  public Integer call() {
    FencepostConfig loaded = config.load();
    Schema schema = new Schema(loaded);
    PrintWriter out = spec.commandLine().getOut();
    if (dryRun) {
      schema.pending(role, rebase).forEach(out::println);
    } else {
      report(out, loaded.database().schema(), migrate(schema));
    }
    out.flush();
    return ExitCode.DONE;
  }

  private Schema.Migrated migrate(Schema schema) {
    try (Elapsed shown = new Elapsed(spec.commandLine().getErr(), "migrating")) {
      return schema.migrate(role, rebase);
    }
  }

  private void report(PrintWriter out, String schema, Schema.Migrated migrated) {
    List<String> applied = migrated.applied();
    out.println(
        applied.isEmpty()
            ? "schema " + schema + " is up to date, version " + migrated.version()
            : "schema "
                + schema
                + ": applied "
                + String.join(", ", applied)
                + ", now version "
                + migrated.version());
    if (migrated.retained()) {
      out.println("relay.retention is in force as configured");
    }
    if (rebase) {
      out.println(
          migrated.rebased()
              ? "the outbox was laid anew; what was not published will be"
              : "the outbox lies as it should: nothing was laid anew");
    }
    if (role != null) {
      out.println("role " + role + " may insert into the outbox and publish, nothing else");
    }
  }
}
