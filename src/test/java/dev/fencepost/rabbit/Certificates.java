package dev.fencepost.rabbit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** An authority with a server's and a client's certificate, made by the JDK's keytool, as PEM. */
final class Certificates {

  private static final String PASSWORD = "test-password";
  private final Path folder;

  private Certificates(Path folder) {
    this.folder = folder;
  }

  static Certificates in(Path folder) throws Exception {
    Certificates made = new Certificates(folder);
    made.generate("ca", "CN=Test authority", "bc:c");
    made.export("ca");
    made.generate("server", "CN=broker", "san=dns:broker.test,ip:127.0.0.1");
    made.generate("client", "CN=client", "eku=clientAuth");
    made.sign("server", "san=dns:broker.test,ip:127.0.0.1");
    made.sign("client", "eku=clientAuth");
    return made;
  }

  Path certificate(String name) {
    return folder.resolve(name + ".crt.pem");
  }

  Path key(String name) {
    return folder.resolve(name + ".key.pem");
  }

  private void generate(String name, String subject, String extension) throws Exception {
    keytool(
        name,
        "-genkeypair",
        "-alias",
        name,
        "-keyalg",
        "RSA",
        "-keysize",
        "2048",
        "-dname",
        subject,
        "-ext",
        extension,
        "-validity",
        "30");
  }

  private void export(String name) throws Exception {
    keytool(name, "-exportcert", "-rfc", "-alias", name, "-file", certificate(name).toString());
  }

  private void sign(String name, String extension) throws Exception {
    Path request = folder.resolve(name + ".csr");
    keytool(name, "-certreq", "-alias", name, "-file", request.toString());
    keytool(
        "ca",
        "-gencert",
        "-rfc",
        "-alias",
        "ca",
        "-infile",
        request.toString(),
        "-outfile",
        certificate(name).toString(),
        "-ext",
        extension,
        "-validity",
        "30");
    KeyStore store = KeyStore.getInstance(store(name).toFile(), PASSWORD.toCharArray());
    Key key = store.getKey(name, PASSWORD.toCharArray());
    Files.writeString(
        key(name),
        "-----BEGIN PRIVATE KEY-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded())
            + "\n-----END PRIVATE KEY-----\n");
  }

  private Path store(String name) {
    return folder.resolve(name + ".p12");
  }

  private void keytool(String store, String... arguments) throws Exception {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    line.addAll(List.of(arguments));
    line.addAll(
        List.of(
            "-keystore", store(store).toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
    Path log = folder.resolve("keytool.log");
    Process process =
        new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (process.waitFor() != 0) {
      throw new IllegalStateException(line + "\n" + Files.readString(log));
    }
  }
}
