package dev.fencepost.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks URIs, showing none of their passwords. */
final class Uris {
  private static final int MOST = 16;
  private static final int HIGHEST_PORT = 65_535;

  private Uris() {}

  /** A list of servers; {@code standard} when it is left out. */
  static List<String> servers(Section section, String standard, Set<String> schemes) {
    List<String> uris = section.texts("uris");
    String allowed = "1 to " + MOST + " URIs " + forms(schemes);
    if (uris == null) {
      return section.sound("uris")
          ? checked(section, List.of(section.standard("uris", standard)), schemes)
          : List.of();
    }
    if (uris.isEmpty() || uris.size() > MOST) {
      section.fault("uris", "has " + uris.size() + " entries", allowed);
    }
    return checked(section, uris, schemes);
  }

  private static List<String> checked(Section section, List<String> uris, Set<String> schemes) {
    for (int i = 0; i < uris.size(); i++) {
      parse(section, "uris[" + i + "]", uris.get(i), schemes);
    }
    return List.copyOf(uris);
  }

  /** Null, and a fault, when it is none of these schemes' or has no host. */
  static @Nullable URI parse(Section section, String key, String text, Set<String> schemes) {
    String problem;
    try {
      URI uri = new URI(text);
      problem = problem(uri, schemes);
      if (problem == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      problem = "is not a URI (percent-encode what is special in user and password)";
    }
    section.fault(key, Redaction.uri(text) + " " + problem, forms(schemes));
    return null;
  }

  private static @Nullable String problem(URI uri, Set<String> schemes) {
    if (uri.getScheme() == null || !schemes.contains(uri.getScheme().toLowerCase(Locale.ROOT))) {
      return "has the wrong scheme";
    }
    if (uri.getHost() == null) {
      return "names no valid host and port (one host each, letters, digits, '-' and '.')";
    }
    if (uri.getPort() == 0 || uri.getPort() > HIGHEST_PORT) {
      return "has a port out of range";
    }
    return uri.getFragment() == null ? null : "has a # (percent-encode it as %23)";
  }

  private static String forms(Set<String> schemes) {
    String scheme = schemes.iterator().next();
    String all = String.join(", ", schemes);
    return scheme + "://[user:password@]host[:port]/… (scheme " + all + ")";
  }
}
