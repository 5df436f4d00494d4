package dev.fencepost.bench;

import java.util.ArrayList;
import java.util.List;

/** The product's lanes shared by several processes. */
final class FencepostFleet extends FencepostRelay {

  private final int count;
  private final List<JavaProcess> all = new ArrayList<>();

  FencepostFleet(Servers servers, int count) {
    super("fencepost x" + count, "", servers, "quorum");
    this.count = count;
  }

  @Override
  JavaProcess launch() {
    all.add(super.launch());
    for (int i = 1; i < count; i++) {
      all.add(another(i));
    }
    return all.get(0);
  }

  @Override
  List<JavaProcess> processes() {
    return all;
  }

  @Override
  int owners() {
    return count;
  }
}
