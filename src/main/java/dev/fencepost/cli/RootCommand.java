package dev.fencepost.cli;

import dev.fencepost.boot.Version;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code fencepost}: names what there is to run. */
@Command(
    name = "fencepost",
    description = "Transactional outbox relay and durable worker for PostgreSQL and RabbitMQ.",
    mixinStandardHelpOptions = true,
    versionProvider = RootCommand.Versions.class,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:it failed, or a bulk request failed for some items",
      "2:usage, configuration, missing rights or wrong password",
      "3:database or broker out of reach (run keeps trying instead)"
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost demo",
      "  fencepost migrate -c conf/fencepost.yaml",
      "  fencepost run -c conf/fencepost.yaml"
    },
    subcommands = {
      DemoCommand.class,
      RunCommand.class,
      MigrateCommand.class,
      CheckConfigCommand.class,
      StatusCommand.class,
      ActivitiesCommand.class,
      ReviewCommand.class,
      DeadLettersCommand.class,
      OutboxCommand.class,
      AuditCommand.class,
      CompletionCommand.class
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RootCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Say more, and print the stack trace of a failure.")
  private boolean verbose;

  boolean verbose() {
    return verbose;
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  /** Read only when it is asked for. */
  static final class Versions implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"fencepost " + Version.current(), "Java ${java.version}"};
    }
  }
}
