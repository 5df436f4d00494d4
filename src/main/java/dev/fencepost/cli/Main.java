package dev.fencepost.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Where the program starts. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) {
    PrintWriter out = StandardOutput.to(new FileOutputStream(FileDescriptor.out));
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(out, err, arguments));
  }

  /**
   * Runs one command.
   *
   * @return the exit code
   */
  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    RootCommand root = new RootCommand();
    CommandLine line =
        new CommandLine(root)
            .setOut(out)
            .setErr(err)
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setUsageHelpAutoWidth(true)
            .setExecutionExceptionHandler(
                (failure, command, parsed) -> failed(failure, command, root));
    line.setExecutionStrategy(
        parsed -> {
          Logs.quiet(root.verbose());
          return new CommandLine.RunLast().execute(parsed);
        });
    try {
      return written(line.execute(arguments), out, err);
    } catch (Throwable failure) { // an Error: threads that run would keep the process alive
      return failed(failure, line, root);
    }
  }

  /** What nobody could read is not done: a full disk. */
  private static int written(int code, PrintWriter out, PrintWriter err) {
    if (code != ExitCode.DONE || !out.checkError()) {
      return code;
    }
    if (StandardOutput.readerGone(out)) {
      return StandardOutput.READER_GONE;
    }
    err.println("fencepost: what it prints could not be written");
    err.flush();
    return ExitCode.FAILED;
  }

  private static int failed(Throwable failure, CommandLine command, RootCommand root) {
    PrintWriter err = command.getErr();
    String text = failure instanceof Exception ? failure.getMessage() : null;
    for (String each : (text == null ? failure.toString() : text).split("\n")) {
      err.println(name(command.getCommandSpec()) + ": " + each);
    }
    if (root.verbose()) {
      failure.printStackTrace(err);
    }
    err.flush();
    return ExitCode.of(failure);
  }

  private static String name(CommandSpec spec) {
    return spec.qualifiedName();
  }
}
