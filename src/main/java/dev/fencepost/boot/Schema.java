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
  public record Migrated(List<String> applied, String version) {}

  /**
   * Creates or upgrades it, and grants what an application needs.
   *
   * @param role to grant it to, or null for nobody
   */
  public Migrated migrate(@Nullable String role) {
    return Blocking.call(
        DEADLINE,
        vertx -> {
          Migrations migrations = new Migrations(vertx, config);
          return migrations
              .migrate()
              .compose(
                  applied ->
                      (role == null ? Future.<Void>succeededFuture() : migrations.grant(role))
                          .map(v -> new Migrated(applied.applied(), applied.version())));
        });
  }

  /** The SQL of {@link #migrate}, line by line; nothing when nothing is to be done. */
  public List<String> pending(@Nullable String role) {
    return Blocking.call(
        DEADLINE,
        vertx -> {
          Migrations migrations = new Migrations(vertx, config);
          return migrations
              .pending()
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
