package dev.fencepost.cli;

import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.Operations;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The pages of a list, each with a deadline of its own: how many there are is nobody's fault. */
final class Pages {
  private final Sessions.Session session;
  private final Function<Operations, Function<Page.Request, Future<Page<ViewRow>>>> source;
  private int left;
  private @Nullable String next;
  private long read;

  /**
   * @param limit how many rows at most
   * @param after where to begin; null for the first row
   */
  Pages(
      Sessions.Session session,
      Function<Operations, Function<Page.Request, Future<Page<ViewRow>>>> source,
      int limit,
      @Nullable String after) {
    this.session = session;
    this.source = source;
    this.left = limit;
    this.next = after;
  }

  /**
   * Reads page after page.
   *
   * @param reader told each page's rows; false when it wants no more
   * @return where to go on: with the page that the reader refused, if it did; null when all was
   *     read
   * @throws FencepostException the failure of a page, which tells how far the list has come
   */
  @Nullable String read(Predicate<List<ViewRow>> reader) {
    do {
      Page<ViewRow> page = page();
      if (!reader.test(page.items())) {
        return next;
      }
      left -= page.items().size();
      read += page.items().size();
      next = page.next();
    } while (next != null && left > 0);
    return next;
  }

  private Page<ViewRow> page() {
    Page.Request request = new Page.Request(Math.min(left, Page.Request.MAX), next);
    try {
      return session.ask(
          OperatorCommand.READING, operations -> source.apply(operations).apply(request));
    } catch (FencepostException e) {
      if (read == 0) {
        throw e;
      }
      throw new FencepostException(
          e.kind(),
          "the list is cut off after "
              + read
              + " rows (to go on: --after "
              + next
              + "): "
              + e.getMessage(),
          e);
    }
  }
}
