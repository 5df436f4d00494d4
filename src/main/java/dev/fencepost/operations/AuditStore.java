package dev.fencepost.operations;

import io.vertx.core.Future;

/** Port: the audit log to read. */
public interface AuditStore {

  /** Rows of {@code audit_log}, the newest first. */
  Future<Page<ViewRow>> list(AuditFilter filter, Page.Request page);
}
