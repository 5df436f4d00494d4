package dev.fencepost.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.WebClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A page in headless Chromium, driven over its DevTools protocol. */
public final class Browser implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "chrome");

  public final List<String> errors = new CopyOnWriteArrayList<>();
  public final List<String> requests = new CopyOnWriteArrayList<>();
  private final Vertx vertx = Vertx.vertx();

  /** Held: one that nobody refers to is closed with its sockets when memory is cleared up. */
  private final WebSocketClient client =
      vertx.createWebSocketClient(
          new WebSocketClientOptions().setMaxFrameSize(64 << 20).setMaxMessageSize(64 << 20));

  private final Map<Integer, Promise<JsonObject>> waiting = new ConcurrentHashMap<>();
  private final AtomicInteger ids = new AtomicInteger();
  private final Path profile;
  private final Process process;
  private final WebSocket socket;

  /** Where a browser is, if there is one. */
  public static Optional<Path> find() {
    return Stream.of(System.getenv("PATH").split(":"))
        .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  public Browser(Path program) throws IOException {
    profile = Files.createTempDirectory("fencepost-browser");
    process =
        new ProcessBuilder(
                program.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    URI endpoint = URI.create(endpoint());
    JsonObject page =
        Await.result(
            WebClient.create(vertx)
                .request(HttpMethod.PUT, endpoint.getPort(), "127.0.0.1", "/json/new?about:blank")
                .send()
                .map(response -> response.bodyAsJsonObject()),
            DEADLINE);
    URI target = URI.create(page.getString("webSocketDebuggerUrl"));
    // A machine with much to do lets the first hello wait for too long.
    socket =
        Await.value("the browser takes its driver", DEADLINE, () -> Await.result(connect(target)));
    socket.closeHandler(closed -> errors.add("the line to the browser is closed"));
    socket.textMessageHandler(text -> received(new JsonObject(text)));
    for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
      call(domain + ".enable", new JsonObject());
    }
  }

  private Future<WebSocket> connect(URI target) {
    return client.connect(
        new WebSocketConnectOptions()
            .setHost("127.0.0.1")
            .setPort(target.getPort())
            .setURI(target.getPath()));
  }

  private String endpoint() throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
    String line;
    while ((line = lines.readLine()) != null) {
      if (line.startsWith("DevTools listening on ")) {
        Thread drain = new Thread(() -> drain(lines));
        drain.setDaemon(true);
        drain.start();
        return line.substring("DevTools listening on ".length());
      }
    }
    throw new IOException("the browser ended before it listened");
  }

  private static void drain(BufferedReader lines) {
    try {
      lines.lines().forEach(ignored -> {});
    } catch (UncheckedIOException ended) {
      // Closed with the browser.
    }
  }

  private void received(JsonObject message) {
    if (message.containsKey("id")) {
      Promise<JsonObject> promise = waiting.remove(message.getInteger("id"));
      if (message.containsKey("error")) {
        promise.fail(message.getJsonObject("error").encode());
      } else {
        promise.complete(message.getJsonObject("result"));
      }
      return;
    }
    JsonObject params = message.getJsonObject("params", new JsonObject());
    switch (message.getString("method")) {
      case "Runtime.exceptionThrown" -> errors.add(params.encode());
      case "Log.entryAdded" -> {
        JsonObject entry = params.getJsonObject("entry");
        if ("error".equals(entry.getString("level"))) {
          errors.add(entry.getString("text") + " " + entry.getString("url"));
        }
      }
      case "Network.requestWillBeSent" ->
          requests.add(params.getJsonObject("request").getString("url"));
      default -> {}
    }
  }

  private JsonObject call(String method, JsonObject params) {
    int id = ids.incrementAndGet();
    Promise<JsonObject> promise = Promise.promise();
    waiting.put(id, promise);
    Future<JsonObject> answer =
        socket
            .writeTextMessage(
                new JsonObject().put("id", id).put("method", method).put("params", params).encode())
            .compose(sent -> promise.future());
    return Await.result(answer, DEADLINE);
  }

  public void open(String url) {
    call("Page.navigate", new JsonObject().put("url", url));
    await("document.readyState === 'complete' && location.href !== 'about:blank'");
  }

  /** What an expression of the page gives; promises are waited for. */
  public Object eval(String expression) {
    JsonObject answer =
        call(
            "Runtime.evaluate",
            new JsonObject()
                .put("expression", expression)
                .put("awaitPromise", true)
                .put("returnByValue", true));
    assertThat(answer.containsKey("exceptionDetails")).as(answer.encode()).isFalse();
    return answer.getJsonObject("result").getValue("value");
  }

  /** Waits until an expression is true, in the page. */
  public void await(String condition) {
    Object met =
        eval(
            "new Promise((done) => { const end = Date.now() + 10000; const look = () => { let ok ="
                + " false; try { ok = "
                + condition
                + "; } catch {} if (ok || Date.now() > end) done(Boolean(ok)); else"
                + " setTimeout(look, 30); }; look(); })");
    assertThat(met).as("%s; the page says: %s", condition, text()).isEqualTo(true);
  }

  public void awaitText(String text) {
    await("document.body.innerText.includes(" + new JsonArray().add(text).encode() + "[0])");
  }

  public String text() {
    return String.valueOf(eval("document.body.innerText"));
  }

  /** Types into the focused element, as a keyboard does. */
  public void type(String text) {
    call("Input.insertText", new JsonObject().put("text", text));
  }

  /** Presses a key such as Tab or Enter. */
  public void press(String key) {
    int code = Map.of("Tab", 9, "Enter", 13, "Escape", 27, " ", 32).get(key);
    JsonObject event =
        new JsonObject()
            .put("key", key)
            .put("code", key.equals(" ") ? "Space" : key)
            .put("windowsVirtualKeyCode", code);
    JsonObject down = event.copy().put("type", "keyDown");
    if (key.equals("Enter")) {
      down.put("text", "\r");
    } else if (key.equals(" ")) {
      down.put("text", " ");
    }
    call("Input.dispatchKeyEvent", down);
    call("Input.dispatchKeyEvent", event.copy().put("type", "keyUp"));
  }

  public void click(String selector) {
    await("document.querySelector(" + quoted(selector) + ")");
    eval("document.querySelector(" + quoted(selector) + ").click()");
  }

  public void clickText(String selector, String text) {
    String found =
        "[...document.querySelectorAll("
            + quoted(selector)
            + ")].find((e) => e.textContent.includes("
            + quoted(text)
            + "))";
    await(found);
    eval(found + ".click()");
  }

  /** Clicks what says {@code text} within the row of a table that says {@code row}. */
  public void clickInRow(String row, String text) {
    String found =
        "[...document.querySelectorAll('main tbody tr')].filter((r) => r.textContent.includes("
            + quoted(row)
            + ")).flatMap((r) => [...r.querySelectorAll('a, button, input[type=checkbox]')])"
            + ".find((e) => (e.textContent || e.getAttribute('aria-label')).includes("
            + quoted(text)
            + "))";
    await(found);
    eval(found + ".click()");
  }

  public void set(String selector, String value) {
    await("document.querySelector(" + quoted(selector) + ")");
    eval("document.querySelector(" + quoted(selector) + ").value = " + quoted(value));
  }

  private static String quoted(String text) {
    return new JsonArray().add(text).encode() + "[0]";
  }

  public void look(int width, int height, boolean dark) {
    call(
        "Emulation.setDeviceMetricsOverride",
        new JsonObject()
            .put("width", width)
            .put("height", height)
            .put("deviceScaleFactor", 1)
            .put("mobile", width < 600));
    call(
        "Emulation.setEmulatedMedia",
        new JsonObject()
            .put(
                "features",
                new JsonArray()
                    .add(
                        new JsonObject()
                            .put("name", "prefers-color-scheme")
                            .put("value", dark ? "dark" : "light"))));
  }

  public void screenshot(Path file) {
    String data =
        call("Page.captureScreenshot", new JsonObject().put("format", "png")).getString("data");
    try {
      Files.createDirectories(file.getParent());
      Files.write(file, Base64.getDecoder().decode(data));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Await.result(vertx.close());
    try (Stream<Path> files = Files.walk(profile)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
  }
}
