package dev.fencepost.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/** The common part of measuring a contender. */
abstract class ContenderEntrant<C extends Contender> implements Entrant {

  private static final Duration LOOK_EVERY = Duration.ofMillis(40);
  private static final Duration DEADLINE = Duration.ofMinutes(30);

  protected final C contender;

  ContenderEntrant(C contender) {
    this.contender = contender;
  }

  @Override
  public final String name() {
    return contender.name();
  }

  @Override
  public final String settings() {
    return contender.settings();
  }

  @Override
  public void start() {
    contender.start();
  }

  @Override
  public void freeze() {
    contender.freeze();
  }

  @Override
  public void thaw() {
    contender.thaw();
  }

  @Override
  public JavaProcess process() {
    return contender.process();
  }

  @Override
  public void close() {
    contender.close();
  }

  /** Looks at a count now and then until it has passed a point, and notes that moment. */
  protected final Figures.Moment passes(LongSupplier count, LongPredicate point) {
    return passes(count, point, LOOK_EVERY);
  }

  /** The same for counts that cost something. */
  protected final Figures.Moment passes(
      LongSupplier count, LongPredicate point, Duration lookEvery) {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (System.nanoTime() < end) {
      long now = count.getAsLong();
      if (point.test(now)) {
        return new Figures.Moment(System.nanoTime(), now, contender.cpu());
      }
      contender.checkAlive();
      LockSupport.parkNanos(lookEvery.toNanos());
    }
    throw new IllegalStateException(name() + " did not end within " + DEADLINE);
  }

  protected final void until(String what, BooleanSupplier condition) {
    contender.await(what, Duration.ofMinutes(2), condition::getAsBoolean);
  }

  protected final double statementsPer(double messages) {
    double statements = contender.database().statements() / messages;
    try {
      Files.writeString(
          Paths.run(name(), ".statements"),
          contender.database().costliestStatements());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return statements;
  }

  protected final double memory() {
    return contender.memory();
  }
}
