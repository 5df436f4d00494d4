package dev.fencepost.config;

import dev.fencepost.config.ActivityConfig.Handler;
import dev.fencepost.model.ActivityKind;
import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a {@code handler}: exactly one of http, sql and class, of a form that fits the kind. */
final class HandlerSection {
  static final String EVENT_ID = "{event_id}";

  private static final Set<String> HTTP = new LinkedHashSet<>(List.of("http", "https"));
  private static final String SECRET_PREFIX = "whsec_";
  private static final String FORMS = "one of http, sql, class";
  private static final Pattern CLASS =
      Pattern.compile(
          "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*"
              + "(\\.\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*)*");

  private HandlerSection() {}

  /** Null, and a fault, when it is none. */
  static @Nullable Handler read(Section activity, @Nullable ActivityKind kind) {
    Section section = activity.child("handler");
    List<String> given = new ArrayList<>(List.of("http", "sql", "class"));
    given.removeIf(form -> !section.has(form));
    Handler http = http(section, given.contains("http"), kind);
    Handler sql = sql(section);
    Handler java = javaClass(section);
    section.close();
    if (given.size() != 1) {
      if (activity.sound("handler")) {
        String problem = given.isEmpty() ? "is missing" : "has " + String.join(" and ", given);
        activity.fault("handler", problem, FORMS);
      }
      return null;
    }
    fits(section, given.get(0), kind);
    return http != null ? http : sql != null ? sql : java;
  }

  private static void fits(Section section, String form, @Nullable ActivityKind kind) {
    if (kind == null || form.equals("class")) {
      return;
    }
    if (kind == ActivityKind.EFFECT && form.equals("http")) {
      section.fault("http", "does not fit kind effect", "sql, or the class of an EffectHandler");
    } else if (kind != ActivityKind.EFFECT && form.equals("sql")) {
      section.fault("sql", "does not fit kind " + kind.wire(), "http or class, or kind effect");
    }
  }

  private static @Nullable Handler http(
      Section handler, boolean given, @Nullable ActivityKind kind) {
    Section section = handler.child("http");
    String address = section.text("url");
    URI url = address == null ? null : Uris.parse(section, "url", address, HTTP);
    String secret = secret(section);
    Section ask = section.child("probe");
    String probe = probe(section, ask);
    if (given && handler.sound("http")) {
      if (address == null && section.sound("url")) {
        section.fault("url", "is missing", "http://host[:port]/… or https://…");
      }
      if (kind == ActivityKind.QUERYABLE && !section.has("probe")) {
        section.fault(
            "probe", "is missing, and kind is queryable", "{url: \"http://…/" + EVENT_ID + "\"}");
      }
    }
    section.close();
    return url == null ? null : new Handler.Http(url, secret, probe);
  }

  private static @Nullable String secret(Section section) {
    String secret = section.text("secret");
    if (secret == null || secret.isEmpty()) {
      return null;
    }
    if (secret.startsWith(SECRET_PREFIX)) {
      String problem = keyProblem(secret.substring(SECRET_PREFIX.length()));
      if (problem != null) {
        section.fault("secret", Redaction.HIDDEN + problem + " after whsec_", "whsec_BASE64");
      }
    }
    return secret;
  }

  private static @Nullable String keyProblem(String base64) {
    try {
      return Base64.getDecoder().decode(base64).length == 0 ? " has no key" : null;
    } catch (IllegalArgumentException e) {
      return " is not base64";
    }
  }

  private static @Nullable String probe(Section http, Section section) {
    String template = section.text("url");
    if (template != null) {
      if (!template.contains(EVENT_ID)) {
        section.fault("url", Redaction.uri(template) + " lacks " + EVENT_ID, "…/" + EVENT_ID);
      } else {
        Uris.parse(section, "url", template.replace(EVENT_ID, "id"), HTTP);
      }
    } else if (http.has("probe") && section.sound("url")) {
      section.fault("url", "is missing", "http://host[:port]/…/" + EVENT_ID);
    }
    section.close();
    return template;
  }

  private static @Nullable Handler sql(Section section) {
    String statement = section.text("sql");
    if (statement == null) {
      return null;
    }
    for (SqlTemplate.Problem problem : SqlTemplate.parse(statement).problems()) {
      section.fault(
          "sql",
          "line " + problem.line() + " column " + problem.column() + ": " + problem.what(),
          problem.allowed());
    }
    return new Handler.Sql(statement);
  }

  private static @Nullable Handler javaClass(Section section) {
    String allowed = "the name of a Java class";
    String name = new Values(section).matchingOrNull("class", CLASS, allowed);
    if (name == null && section.has("class") && section.sound("class")) {
      // As a variable that is not set leaves it: the activity would be gone without a word.
      section.fault("class", "is empty", allowed);
    }
    return name == null ? null : new Handler.JavaClass(name);
  }
}
