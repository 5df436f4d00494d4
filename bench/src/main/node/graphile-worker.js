// Graphile Worker: a job for each message, a receipt in each job. Arguments: database URI, broker
// URI, queue. Messages are taken 500 together and acknowledged once their jobs are stored.
import amqp from "amqplib";
import { makeWorkerUtils, run } from "graphile-worker";

const [connectionString, broker, queue] = process.argv.slice(2);
const TOGETHER = 500;
const CONCURRENCY = 24;

const preset = {
  worker: {
    connectionString,
    concurrentJobs: CONCURRENCY,
    maxPoolSize: CONCURRENCY + 1,
    localQueue: { size: TOGETHER },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

process.env.NO_LOG_SUCCESS = "1";

const utils = await makeWorkerUtils({ preset });
await utils.migrate();

const runner = await run({
  preset,
  taskList: {
    receipt: async ({ id }, helpers) => {
      await helpers.query(
        "insert into receipt (event_id) values ($1) on conflict do nothing",
        [id],
      );
    },
  },
});

const connection = await amqp.connect(broker);
const channel = await connection.createChannel();
await channel.prefetch(2 * TOGETHER);

let waiting = [];
let storing = false;

async function store() {
  if (storing) {
    return;
  }
  storing = true;
  while (waiting.length > 0) {
    const taken = waiting.splice(0, TOGETHER);
    await utils.addJobs(
      taken.map((message) => ({
        identifier: "receipt",
        payload: { id: message.properties.messageId },
      })),
    );
    channel.ack(taken[taken.length - 1], true);
  }
  storing = false;
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

await channel.consume(queue, (message) => {
  waiting.push(message);
  store().catch(fail);
});
console.log("consuming");
await runner.promise;
