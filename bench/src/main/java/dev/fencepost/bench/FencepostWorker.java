package dev.fencepost.bench;

import java.nio.file.Path;

/** The product's worker with one activity type. */
final class FencepostWorker extends Worker {

  private final String kind;
  private final Class<?> handler;
  private Path file;

  FencepostWorker(String name, String kind, Class<?> handler, Servers servers) {
    super(name, Fencepost.INTAKE_SAID, servers);
    this.kind = kind;
    this.handler = handler;
  }

  String kind() {
    return kind;
  }

  @Override
  void prepare() {
    file =
        Fencepost.migrate(
            name(),
            Fencepost.servers(servers, database)
                + "relay: {enabled: false}\n"
                + Fencepost.queue(queue.name(), kind, handler, Fencepost.INTAKE));
  }

  @Override
  JavaProcess launch() {
    return Fencepost.run(name(), file);
  }

  @Override
  long results() {
    return Fencepost.finished(database);
  }
}
