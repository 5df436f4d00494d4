package dev.fencepost.config;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A configuration file was refused: every fault of it at once, never with a secret in it. */
public final class ConfigFaults extends FencepostException {
  private static final long serialVersionUID = 1L;

  private final transient List<Fault> faults;

  /**
   * One fault.
   *
   * @param path where, such as {@code queues.notifications.prefetch}
   * @param problem the value and what is wrong with it
   * @param allowed what would be accepted
   */
  public record Fault(String path, String problem, String allowed) {
    @Override
    public String toString() {
      return path + ": " + problem + "; allowed: " + allowed;
    }
  }

  public ConfigFaults(List<Fault> faults) {
    this(faults, null);
  }

  public ConfigFaults(List<Fault> faults, @Nullable Throwable cause) {
    super(
        FailureKind.CONFIGURATION,
        faults.stream().map(Fault::toString).collect(Collectors.joining("\n")),
        cause);
    this.faults = List.copyOf(faults);
  }

  /** In the order of the file's sections; never empty. */
  public List<Fault> faults() {
    return faults;
  }
}
