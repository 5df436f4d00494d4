package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/** Every command explains itself, and its examples are what it takes. */
class HelpTest {

  private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");
  private static final Pattern STEERING = Pattern.compile("[|<>&;(]");

  static Stream<String> commands() {
    List<String> names = new ArrayList<>();
    walk(new CommandLine(new RootCommand()), names);
    return names.stream();
  }

  private static void walk(CommandLine command, List<String> names) {
    names.add(command.getCommandSpec().qualifiedName());
    command.getSubcommands().values().forEach(each -> walk(each, names));
  }

  private static CommandSpec command(String name) {
    CommandLine found = new CommandLine(new RootCommand());
    for (String part : name.split(" ")) {
      found = found.getSubcommands().getOrDefault(part, found);
    }
    assertThat(found.getCommandSpec().qualifiedName()).isEqualTo(name);
    return found.getCommandSpec();
  }

  private static List<String> examples(CommandSpec command) {
    String joined =
        Arrays.stream(command.usageMessage().footer())
            .map(String::strip)
            .collect(Collectors.joining("\n"))
            .replaceAll("\\\\\\n\\s*", "");
    return joined.lines().filter(line -> line.startsWith("fencepost")).toList();
  }

  private static String[] words(String example) {
    Matcher word = WORD.matcher(example.substring("fencepost".length()));
    List<String> words = new ArrayList<>();
    while (word.find()) {
      words.add(word.group(1) != null ? word.group(1) : word.group().replace("\"", ""));
    }
    return words.toArray(String[]::new);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void hasExamples(String name) {
    StringWriter out = new StringWriter();
    List<String> arguments = new ArrayList<>(List.of(name.split(" ")));
    arguments.remove(0);
    arguments.add("--help");

    int code =
        Main.run(new PrintWriter(out), new PrintWriter(out), arguments.toArray(String[]::new));

    assertThat(code).isZero();
    assertThat(out.toString()).contains("Usage: " + name, "\nExamples:\n  ");
    assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void explainsEachOfItsOptions(String name) {
    CommandSpec command = command(name);
    assertThat(command.usageMessage().description()).isNotEmpty();
    for (ArgSpec each : command.args()) {
      assertThat(String.join("", each.description()))
          .as(name + " " + each.paramLabel() + " " + each)
          .isNotBlank();
    }
  }

  @ParameterizedTest
  @MethodSource("commands")
  void takesItsOwnExamples(String name) {
    List<String> examples = examples(command(name));
    assertThat(examples.isEmpty() && !name.endsWith("completion")).isFalse();
    for (String example : examples) {
      if (!STEERING.matcher(example.replaceAll("'[^']*'", "")).find()) {
        assertThat(example).startsWith(name);
        assertThatCode(
                () ->
                    new CommandLine(new RootCommand())
                        .setCaseInsensitiveEnumValuesAllowed(true)
                        .parseArgs(words(example)))
            .as(example)
            .doesNotThrowAnyException();
      }
    }
  }

  @Test
  void completesInBash(@TempDir Path folder) throws Exception {
    StringWriter script = new StringWriter();
    assertThat(Main.run(new PrintWriter(script), new PrintWriter(script), "completion", "bash"))
        .isZero();
    Path file = folder.resolve("completion.bash");
    Files.writeString(file, script.toString());
    assertThat(completed(folder, file, "fencepost", "dead-l")).contains("dead-letters");
    assertThat(completed(folder, file, "fencepost", "dead-letters", "re")).contains("redrive");
    assertThat(completed(folder, file, "fencepost", "review", "resolve", "--ev"))
        .contains("--evidence");
    assertThat(completed(folder, file, "fencepost", "run", "--only", "")).contains("relay");
    assertThat(completed(folder, file, "fencepost", "audit", "list", "--ac"))
        .contains("--actor", "--action");
  }

  /** Word for word as bash does it: the shell looks the function up and calls it. */
  @Test
  void bashKnowsWhichCommandItIsFor(@TempDir Path folder) throws Exception {
    String known =
        shell(folder, "bash", "source " + script(folder, "bash") + "; complete -p fencepost");
    assertThat(known).contains("-F _complete_fencepost", "fencepost");
  }

  @Test
  void completesInZsh(@TempDir Path folder) throws Exception {
    assumeThat(
            Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(path -> Path.of(path, "zsh")))
        .anyMatch(Files::isExecutable);
    Path script = script(folder, "zsh");
    String call =
        "emulate -L sh; setopt kshglob noshglob braceexpand ksharrays;"
            + " COMP_WORDS=(fencepost %s); COMP_CWORD=%d; _complete_fencepost;"
            + " printf '%%s\\n' \"${COMPREPLY[@]}\"";
    String said =
        shell(
            folder,
            "zsh",
            "source "
                + script
                + "; print for=$_comps[fencepost]; ask1() { "
                + call.formatted("dead-letters re", 2)
                + "; }; ask2() { "
                + call.formatted("review resolve --ev", 3)
                + "; }; ask1; ask2");
    assertThat(said).contains("for=_bash_complete", "redrive", "--evidence");
  }

  private static Path script(Path folder, String shell) throws IOException {
    StringWriter script = new StringWriter();
    assertThat(Main.run(new PrintWriter(script), new PrintWriter(script), "completion", shell))
        .isZero();
    return Files.writeString(folder.resolve("completion." + shell), script.toString());
  }

  private static String shell(Path folder, String shell, String commands) throws Exception {
    Path out = folder.resolve("said");
    String bare = shell.equals("zsh") ? "-fc" : "-c";
    ProcessBuilder builder =
        new ProcessBuilder(shell, bare, commands)
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    builder.environment().put("HOME", folder.toString());
    Process ran = builder.start();
    ran.getOutputStream().close();
    assertThat(ran.waitFor()).as(Files.readString(out)).isZero();
    return Files.readString(out);
  }

  private static String completed(Path folder, Path script, String... words) throws Exception {
    Path out = folder.resolve("completed");
    String command =
        "source "
            + script
            + "; COMP_WORDS=("
            + Arrays.stream(words).map(word -> "'" + word + "'").collect(Collectors.joining(" "))
            + "); COMP_CWORD="
            + (words.length - 1)
            + "; _complete_fencepost; printf '%s\\n' \"${COMPREPLY[@]}\"";
    Process bash =
        new ProcessBuilder("bash", "-c", command)
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    assertThat(bash.waitFor()).as(Files.readString(out)).isZero();
    return Files.readString(out);
  }
}
