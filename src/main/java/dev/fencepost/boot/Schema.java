package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.pg.Migrations;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The schema, as commands see it. Blocks. */
public final class Schema {

  /** A migration may rewrite what has piled up; nobody is helped by giving up halfway. */
  private static final Duration DEADLINE = Duration.ofHours(12);

  private final FencepostConfig config;

  public Schema(FencepostConfig config) {
    this.config = config;
  }

  /** What a migration did. */
  public record Migrated(List<String> applied, String version, boolean retained, boolean rebased) {}

  /** Without laying the outbox anew. */
  public Migrated migrate(@Nullable String role) {
    return migrate(role, false);
  }

  /**
   * Creates or upgrades it, and grants what an application needs.
   *
   * @param role to grant it to, or null for nobody
   * @param rebase whether to lay the outbox anew where it comes from another cluster or has another
   *     number of lanes
   */
  public Migrated migrate(@Nullable String role, boolean rebase) {
    return Blocking.call(
        DEADLINE,
        vertx -> {
          Migrations migrations = new Migrations(vertx, config);
          return migrations
              .migrate(rebase)
              .compose(
                  applied ->
                      (role == null ? Future.<Void>succeededFuture() : migrations.grant(role))
                          .map(
                              v ->
                                  new Migrated(
                                      applied.applied(),
                                      applied.version(),
                                      applied.retained(),
                                      applied.rebased())));
        });
  }

  /** The SQL of {@link #migrate}, line by line; nothing when nothing is to be done. */
  public List<String> pending(@Nullable String role, boolean rebase) {
    return Blocking.call(
        DEADLINE,
        vertx -> {
          Migrations migrations = new Migrations(vertx, config);
          return migrations
              .pending(rebase)
              .map(
                  sql -> {
                    List<String> lines = new ArrayList<>(sql.lines().toList());
                    if (role != null) {
                      migrations.grants(role).forEach(grant -> lines.add(grant + ";"));
                    }
                    return lines;
                  });
        });
  }
}
