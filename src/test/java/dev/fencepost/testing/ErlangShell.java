package dev.fencepost.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A small Erlang node that evaluates expressions on the broker's node: milliseconds each, where
 * {@code rabbitmqctl} takes two seconds to start.
 */
final class ErlangShell implements AutoCloseable {

  /** Reads one expression a line, answers one line: {@code {ok,Result}} or {@code {error,Why}}. */
  private static final String LOOP =
      """
      Node = list_to_atom(hd(init:get_plain_arguments())),
      Loop = fun(Next) ->
        case io:get_line("") of
          eof -> halt(0);
          {error, _} -> halt(1);
          Line ->
            Answer = try
              {ok, Tokens, _} = erl_scan:string(Line),
              {ok, Parsed} = erl_parse:parse_exprs(Tokens),
              case rpc:call(Node, erl_eval, exprs, [Parsed, []], 30000) of
                {value, Value, _} -> {ok, Value};
                {badrpc, Why} -> {error, Why}
              end
            catch Class:Reason -> {error, {Class, Reason}} end,
            io:format("~0tp~n", [Answer]),
            Next(Next)
        end
      end,
      Loop(Loop).
      """;

  private final ServerProcess process;
  private final Writer requests;
  private final BufferedReader answers;

  private ErlangShell(ServerProcess process) {
    this.process = process;
    this.requests = process.process().outputWriter(StandardCharsets.UTF_8);
    this.answers =
        new BufferedReader(
            new InputStreamReader(process.process().getInputStream(), StandardCharsets.UTF_8));
  }

  static ErlangShell start(String node, String cookie, Map<String, String> environment, Path log) {
    List<String> line =
        List.of(
            "erl",
            "-noshell",
            "-hidden",
            "-start_epmd",
            "false",
            "-name",
            "shell@127.0.0.1",
            "-setcookie",
            cookie,
            "-eval",
            LOOP,
            "-extra",
            node);
    ProcessBuilder builder =
        ServerProcess.builder(
            new ServerProcess.Command(line, environment, log.getParent(), log, null));
    builder.redirectErrorStream(false);
    builder.redirectOutput(ProcessBuilder.Redirect.PIPE);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    return new ErlangShell(ServerProcess.start(builder, log));
  }

  /** Evaluates expressions on the broker's node and returns the last one's value as Erlang text. */
  synchronized String eval(String expressions) {
    try {
      requests.write(expressions.strip().replace('\n', ' ') + ".\n");
      requests.flush();
      String answer = answers.readLine();
      if (answer == null || !answer.startsWith("{ok,")) {
        throw new IllegalStateException(expressions + " gave " + answer);
      }
      return answer.substring("{ok,".length(), answer.length() - 1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.kill();
  }
}
