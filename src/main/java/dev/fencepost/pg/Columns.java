package dev.fencepost.pg;

import dev.fencepost.model.StorableText;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Items as parallel arrays, for {@code unnest}: one per call, in the order of the calls. */
final class Columns<T> {
  private static final int NAME_BYTES = 1024;
  private static final int TEXT_BYTES = 16 * 1024;
  private static final int RECEIPT_BYTES = 1024 * 1024;

  private final Tuple tuple;
  private final List<T> items;

  Columns(List<T> items) {
    this(Tuple.tuple(), items);
  }

  private Columns(Tuple tuple, List<T> items) {
    this.tuple = tuple;
    this.items = items;
  }

  /** Goes on with columns of other items. */
  <S> Columns<S> of(List<S> others) {
    return new Columns<>(tuple, others);
  }

  /** A single value in front of or between the arrays. */
  Columns<T> value(@Nullable Object value) {
    tuple.addValue(value);
    return this;
  }

  /** Ids, types, keys: short, storable. */
  Columns<T> names(Function<T, @Nullable String> of) {
    return text(of, NAME_BYTES);
  }

  /** The same; no array at all where none has one, which unnests to nulls at no cost. */
  Columns<T> rareNames(Function<T, @Nullable String> of) {
    return items.stream().allMatch(item -> of.apply(item) == null) ? value(null) : names(of);
  }

  /** Errors and the like: storable, bounded. */
  Columns<T> texts(Function<T, @Nullable String> of) {
    return text(of, TEXT_BYTES);
  }

  /** Receipts' bodies: a handler's own, so cut only where nobody would look for them. */
  Columns<T> receipts(Function<T, @Nullable String> of) {
    return text(of, RECEIPT_BYTES);
  }

  private Columns<T> text(Function<T, @Nullable String> of, int bytes) {
    String[] values = new String[items.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = StorableText.ofNullable(of.apply(items.get(i)), bytes);
    }
    return value(values);
  }

  Columns<T> longs(ToLongFunction<T> of) {
    Long[] values = new Long[items.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = of.applyAsLong(items.get(i));
    }
    return value(values);
  }

  Columns<T> nullableLongs(Function<T, @Nullable Long> of) {
    return value(items.stream().map(of).toArray(Long[]::new));
  }

  Columns<T> booleans(Predicate<T> of) {
    Boolean[] values = new Boolean[items.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = of.test(items.get(i));
    }
    return value(values);
  }

  /** No array at all where none is true. */
  Columns<T> rareBooleans(Predicate<T> of) {
    return items.stream().noneMatch(of) ? value(null) : booleans(of);
  }

  Tuple tuple() {
    return tuple;
  }
}
