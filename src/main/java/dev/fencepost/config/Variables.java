package dev.fencepost.config;

import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Puts the environment into values: {@code ${NAME}}, {@code ${NAME:default}} (a default may hold
 * variables of its own); a doubled dollar before the brace stands for itself. What a variable holds
 * is not read again.
 */
final class Variables {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private final Map<String, String> environment;

  Variables(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * @param faults told what is wrong, once per variable
   * @return null when something was wrong
   */
  @Nullable String resolve(String text, Consumer<String> faults) {
    StringBuilder out = new StringBuilder();
    boolean sound = true;
    int at = 0;
    while (at < text.length()) {
      if (text.startsWith("$${", at)) {
        out.append("${");
        at += 3;
      } else if (text.startsWith("${", at)) {
        int end = closing(text, at + 2);
        if (end < 0) {
          faults.accept("has a ${ that is never closed by }");
          return null;
        }
        String value = variable(text.substring(at + 2, end), faults);
        sound &= value != null;
        out.append(value);
        at = end + 1;
      } else {
        out.append(text.charAt(at++));
      }
    }
    return sound ? out.toString() : null;
  }

  private @Nullable String variable(String inside, Consumer<String> faults) {
    int colon = inside.indexOf(':');
    String name = colon < 0 ? inside : inside.substring(0, colon);
    if (!NAME.matcher(name).matches()) {
      faults.accept("has a variable that is not written ${NAME} or ${NAME:default}");
      return null;
    }
    String value = environment.get(name);
    if (value != null) {
      return value;
    }
    if (colon < 0) {
      faults.accept("needs the environment variable " + name + ", which is not set");
      return null;
    }
    return resolve(inside.substring(colon + 1), faults);
  }

  private static int closing(String text, int from) {
    int depth = 1;
    for (int i = from; i < text.length(); i++) {
      if (text.startsWith("${", i)) {
        depth++;
      } else if (text.charAt(i) == '}' && --depth == 0) {
        return i;
      }
    }
    return -1;
  }
}
