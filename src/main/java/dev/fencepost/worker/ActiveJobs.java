package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The events that are in this process: at most one job of an event goes to the database at a time.
 * Also remembers whose handlers have not returned.
 */
final class ActiveJobs {
  private final Map<ActivityId, Job> jobs = new HashMap<>();
  private final Map<ActivityId, Integer> leaked = new HashMap<>();
  private final Map<ActivityId, Long> unstored = new HashMap<>();
  private final Set<ActivityId> probing = new HashSet<>();
  private int dueClaims;

  @Nullable Job get(ActivityId id) {
    return jobs.get(id);
  }

  /** Registers the job unless its event is here already; the one that is here, or null. */
  @Nullable Job enter(Job job) {
    return jobs.putIfAbsent(job.id, job);
  }

  /** A start from the database holds the ticket: it stands for its event from now on. */
  void replace(Job job) {
    jobs.put(job.id, job);
  }

  void leave(Job job) {
    jobs.remove(job.id, job);
  }

  int size() {
    return jobs.size();
  }

  /** A run of it was given up and has not returned; there may be several. */
  void leak(ActivityId id) {
    leaked.merge(id, 1, Integer::sum);
  }

  /** One of them has returned. */
  void returned(ActivityId id) {
    leaked.computeIfPresent(id, (of, runs) -> runs == 1 ? null : runs - 1);
  }

  /**
   * The database refuses to store how the run under this fence ended. It has run, so that nobody
   * may take its lease for that of a start whose answer was lost; the recovery table decides.
   */
  void notStored(ActivityId id, long fence) {
    unstored.put(id, fence);
  }

  boolean unstored(ActivityId id, long fence) {
    Long of = unstored.get(id);
    return of != null && of == fence;
  }

  /** What became of it has been decided. */
  void decided(ActivityId id) {
    unstored.remove(id);
  }

  /** A probe of ours holds its lease, from here to {@link #probed}. */
  void probing(ActivityId id) {
    probing.add(id);
  }

  void probed(ActivityId id) {
    probing.remove(id);
  }

  /** Whether a probe of it is under way. */
  boolean probes(ActivityId id) {
    return probing.contains(id);
  }

  /** A statement that starts due activities is in flight: what it claims is not known yet. */
  void claimingDue(boolean begins) {
    dueClaims += begins ? 1 : -1;
  }

  /** Whether such a statement has not been answered: it may have claimed what is no job yet. */
  boolean claimsDue() {
    return dueClaims > 0;
  }

  /** Whether something of ours other than a job may hold its lease, or run. */
  boolean busy(ActivityId id) {
    return dueClaims > 0 || probes(id) || leaked.containsKey(id);
  }

  boolean leaks(ActivityId id) {
    return leaked.containsKey(id);
  }
}
