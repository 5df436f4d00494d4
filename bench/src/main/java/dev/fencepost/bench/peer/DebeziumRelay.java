package dev.fencepost.bench.peer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.DebeziumEngine.RecordCommitter;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Debezium Engine with its outbox router; the handler publishes each batch on one channel and waits
 * for its confirms before it is marked as done.
 */
public final class DebeziumRelay {

  private final Channel channel;
  private final String queue;

  private DebeziumRelay(Channel channel, String queue) {
    this.channel = channel;
    this.queue = queue;
  }

  public static void main(String[] arguments) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(arguments[1]);
    Channel channel = factory.newConnection().createChannel();
    channel.confirmSelect();
    DebeziumRelay relay = new DebeziumRelay(channel, arguments[2]);
    DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
        .using(settings(arguments[0], arguments[3]))
        .notifying(relay::publish)
        .using((success, message, error) -> fail(message, error))
        .build()
        .run();
  }

  private static void fail(String message, Throwable error) {
    System.out.println(message);
    if (error != null) {
      error.printStackTrace();
    }
    System.exit(1);
  }

  private void publish(
      List<RecordChangeEvent<SourceRecord>> batch,
      RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
      throws InterruptedException {
    try {
      for (RecordChangeEvent<SourceRecord> event : batch) {
        SourceRecord row = event.record();
        String id = row.headers().lastWithName("id").value().toString();
        channel.basicPublish("", queue, true, Messages.properties(id), bytes(row.value()));
        committer.markProcessed(event);
      }
      channel.waitForConfirmsOrDie(30_000);
      committer.markBatchFinished();
    } catch (java.io.IOException | java.util.concurrent.TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] bytes(Object value) {
    if (value instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return bytes;
    }
    return (byte[]) value;
  }

  private static Properties settings(String jdbcUrl, String pollMillis) {
    URI uri = URI.create(jdbcUrl.substring("jdbc:".length()));
    Properties settings = new Properties();
    settings.setProperty("name", "bench");
    settings.setProperty(
        "connector.class", "io.debezium.connector.postgresql.PostgresConnector");
    settings.setProperty(
        "offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore");
    settings.setProperty("offset.flush.interval.ms", "1000");
    settings.setProperty("database.hostname", uri.getHost());
    settings.setProperty("database.port", Integer.toString(uri.getPort()));
    settings.setProperty("database.user", "postgres");
    settings.setProperty("database.password", "fencepost");
    settings.setProperty("database.dbname", uri.getPath().substring(1));
    settings.setProperty("topic.prefix", "bench");
    settings.setProperty("plugin.name", "pgoutput");
    settings.setProperty("publication.autocreate.mode", "filtered");
    settings.setProperty("table.include.list", "public.outbox");
    settings.setProperty("snapshot.mode", "no_data");
    settings.setProperty("skipped.operations", "u,d,t");
    settings.setProperty("max.batch.size", "2048");
    settings.setProperty("max.queue.size", "8192");
    settings.setProperty("poll.interval.ms", pollMillis);
    settings.setProperty("tombstones.on.delete", "false");
    settings.setProperty("transforms", "outbox");
    settings.setProperty(
        "transforms.outbox.type", "io.debezium.transforms.outbox.EventRouter");
    settings.setProperty("transforms.outbox.table.field.event.id", "event_id");
    settings.setProperty("transforms.outbox.table.field.event.key", "key");
    settings.setProperty("transforms.outbox.table.field.event.payload", "payload");
    settings.setProperty("transforms.outbox.route.by.field", "routing_key");
    settings.setProperty("transforms.outbox.route.topic.replacement", "${routedByValue}");
    return settings;
  }
}
