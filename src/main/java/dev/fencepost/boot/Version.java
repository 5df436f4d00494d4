package dev.fencepost.boot;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Which Fencepost this is. */
public final class Version {

  private static final String POM = "/META-INF/maven/dev.fencepost/fencepost/pom.properties";

  private Version() {}

  /** As built, or {@code development} when run from class files. */
  public static String current() {
    try (InputStream in = Version.class.getResourceAsStream(POM)) {
      Properties properties = new Properties();
      if (in != null) {
        properties.load(in);
      }
      return properties.getProperty("version", "development");
    } catch (IOException e) {
      return "unknown";
    }
  }
}
