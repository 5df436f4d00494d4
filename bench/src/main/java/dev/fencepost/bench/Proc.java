package dev.fencepost.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** CPU time and memory of processes, as the kernel counts them. */
final class Proc {

  private static final double TICKS_A_SECOND = 100;
  private static final int PPID = 1;
  private static final int UTIME = 11;
  private static final int STIME = 12;
  private static final int CUTIME = 13;
  private static final int CSTIME = 14;

  private Proc() {}

  /** CPU seconds of a process with its threads. */
  static double cpu(long pid) {
    return ticks(present(pid), UTIME, STIME) / TICKS_A_SECOND;
  }

  /** CPU seconds of a process, its children, and those of them that have ended. */
  static double cpuOfFamily(long pid) {
    double seconds = ticks(present(pid), UTIME, STIME, CUTIME, CSTIME) / TICKS_A_SECOND;
    for (long child : children(pid)) {
      seconds += cpuOfOneThread(child);
    }
    return seconds;
  }

  /** In nanoseconds, not ticks: many sessions with little work each would round to nothing. */
  private static double cpuOfOneThread(long pid) {
    try {
      return Long.parseLong(Files.readString(Path.of("/proc/" + pid + "/schedstat")).split(" ")[0])
          / 1e9;
    } catch (IOException e) {
      return 0;
    }
  }

  static long parent(long pid) {
    return Long.parseLong(present(pid)[PPID]);
  }

  /** Resident memory in MiB. */
  static long residentMebibytes(long pid) {
    try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
      return lines
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  private static List<Long> children(long pid) {
    List<Long> found = new ArrayList<>();
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      all.map(path -> path.getFileName().toString())
          .filter(name -> Character.isDigit(name.charAt(0)))
          .mapToLong(Long::parseLong)
          .filter(each -> hasParent(each, pid))
          .forEach(found::add);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    return found;
  }

  private static boolean hasParent(long pid, long parent) {
    String[] stat = stat(pid);
    return stat != null && Long.parseLong(stat[PPID]) == parent;
  }

  private static double ticks(String[] stat, int... fields) {
    double sum = 0;
    for (int field : fields) {
      sum += Long.parseLong(stat[field]);
    }
    return sum;
  }

  private static String[] present(long pid) {
    String[] stat = stat(pid);
    if (stat == null) {
      throw new IllegalStateException("no process " + pid);
    }
    return stat;
  }

  /** The fields behind the name, state first; null when there is no such process. */
  private static String[] stat(long pid) {
    try {
      String text =
          Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
      return text.substring(text.lastIndexOf(')') + 2).split(" ");
    } catch (IOException e) {
      return null;
    }
  }
}
