package dev.fencepost.bench;

/** The product's relay; its events go to a fanout exchange. */
final class FencepostFanOut extends FencepostRelay {

  private final Fan fan;

  FencepostFanOut(Servers servers, int copies) {
    super("fencepost", "", servers, "quorum");
    fan = new Fan(servers.brokerUri(), "bench.fan-out", copies);
  }

  @Override
  Destination destination() {
    return fan;
  }

  @Override
  public void close() {
    super.close();
    fan.close();
  }
}
