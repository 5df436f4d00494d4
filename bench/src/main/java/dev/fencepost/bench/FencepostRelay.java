package dev.fencepost.bench;

import java.nio.file.Path;

/** The product's relay. */
class FencepostRelay extends Relay {

  private final String options;
  private final String[] jvm;
  private Path file;

  FencepostRelay(Servers servers, String queueType) {
    this("fencepost", "", servers, queueType);
  }

  FencepostRelay(String name, String options, Servers servers, String queueType, String... jvm) {
    super(name, "8 lanes, ordering key, all defaults" + options, servers, queueType);
    this.options = options;
    this.jvm = jvm;
  }

  @Override
  void prepare() {
    file =
        Fencepost.migrate(
            name(), Fencepost.servers(servers, database) + "worker: {enabled: false}\n" + options);
  }

  /** Where its events go. */
  Destination destination() {
    return queue;
  }

  @Override
  JavaProcess launch() {
    return Fencepost.run(name(), file, jvm);
  }

  /** One more process beside the first. */
  JavaProcess another(int number) {
    return Fencepost.run(name() + " " + number, file, jvm);
  }

  @Override
  void fill(int rows, int size) {
    database.execute(Fencepost.fill(destination(), rows, size));
  }

  @Override
  String insert() {
    return Fencepost.insert(destination());
  }
}
