package dev.fencepost.cli;

import static dev.fencepost.cli.Shop.LONG;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A shop in production for each test, with a bank that takes connections and never answers. */
abstract class ShopStories {

  static RabbitServer broker;
  static ServerSocket bank;

  @TempDir Path folder;
  Shop shop;
  Shop.Site site;
  String vhost;
  ServiceProcess service;

  @BeforeAll
  static void servers() throws Exception {
    broker = RabbitServer.start();
    bank = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  @AfterAll
  static void end() throws Exception {
    broker.close();
    bank.close();
  }

  @BeforeEach
  void open() throws Exception {
    vhost = broker.newVhost();
    shop = new Shop(folder, TestServers.postgres().newDatabase());
    site = shop.site(shop.database, vhost, bank.getLocalPort());
    shop.open(site);
  }

  @AfterEach
  void close() {
    if (service != null) {
      service.close();
    }
    broker.deleteVhost(vhost);
  }

  void order(String exchange, String key, String event) {
    shop.publish(exchange, "order.placed", key, "{\"id\": 1}", event);
  }

  void recovered() {
    Await.until(
        "it is ready", LONG, () -> shop.health(site, false).getString("status").equals("UP"));
  }
}
