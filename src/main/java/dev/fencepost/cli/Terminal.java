package dev.fencepost.cli;

import java.io.Console;

/** Whether a person is watching: progress goes to a terminal, and nothing of it into a pipe. */
final class Terminal {
  private Terminal() {}

  /** True when both ends of this process are a terminal. */
  @SuppressWarnings("SystemConsoleNull") // asked by isTerminal too, where Java has it
  static boolean watched() {
    Console console = System.console();
    if (console == null) {
      return false;
    }
    try {
      // From Java 22 on there is a console in a pipe too.
      return (Boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (NoSuchMethodException olderJava) {
      return true;
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }
}
