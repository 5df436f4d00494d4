package dev.fencepost.bench;

import dev.fencepost.bench.handler.NoOperation;
import java.nio.file.Path;

/** Relay and worker in one process: what is committed to the outbox is worked off at once. */
final class FencepostBoth extends Relay {

  private final int queues;
  private Path file;

  FencepostBoth(Servers servers) {
    this(servers, 1);
  }

  FencepostBoth(Servers servers, int queues) {
    super("fencepost", "relay and worker in one process; " + Fencepost.INTAKE_SAID, servers, "quorum");
    this.queues = queues;
  }

  @Override
  void prepare() {
    StringBuilder text = new StringBuilder(Fencepost.servers(servers, database));
    String kind = "idempotent";
    text.append(
        Fencepost.queue(queue.name(), kind, NoOperation.class, Fencepost.INTAKE));
    for (int i = 1; i < queues; i++) {
      text.append(
          """
            idle-%d:
              queue: %s.%d
              declare: {type: classic}
              activities:
                order.placed: {kind: %s, handler: {class: %s}}
          """
              .formatted(i, queue.name(), i, kind, NoOperation.class.getName()));
    }
    file = Fencepost.migrate(name(), text.toString());
  }

  @Override
  JavaProcess launch() {
    return Fencepost.run(name(), file);
  }

  JavaProcess again() {
    return Fencepost.run(name() + " again", file);
  }

  @Override
  void fill(int rows, int size) {
    database.execute(Fencepost.fill(queue, rows, size));
  }

  @Override
  String insert() {
    return Fencepost.insert(queue);
  }

  long finished() {
    return Fencepost.finished(database);
  }
}
