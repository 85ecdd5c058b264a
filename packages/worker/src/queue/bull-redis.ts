// BullMQ's queues on Redis: one connection for all commands, and one for each taker that waits.

import type { BullBackends, Bull } from "./bull-backends.ts";
import { loadPackage } from "./load-package.ts";
import type { QueueAddress } from "./queue-error.ts";

const CONNECT_MS = 5000;
const RECONNECT_MS = 1000;
/** When a silent connection is closed: longer than a taker waits for a job in one command. */
const SILENT_MS = 15_000;

export async function openRedisBackends(
  { url }: QueueAddress,
  bull: Bull,
  report: (error: unknown) => void,
): Promise<BullBackends> {
  const { Redis } = await loadPackage("ioredis", "6", () => import("ioredis"));
  let failure: unknown;
  const connection = new Redis(url.href, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    retryStrategy: () => RECONNECT_MS,
    socketTimeout: SILENT_MS,
    // Commands fail at once if they cannot be sent or answered. Otherwise they would pile up while the server is away.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  });
  connection.on("error", (error: unknown) => {
    failure = error;
    report(error);
  });
  try {
    await connection.connect();
  } catch (error) {
    connection.disconnect();
    // The error of `connect` only says that the connection is closed.
    throw failure ?? error;
  }
  return {
    async connect(name, options, { takes }) {
      // BullMQ would wait for the connection, and forever if it is closed meanwhile.
      if (connection.status !== "ready") throw new Error("it is not connected");
      const use = { withBlockingConnection: takes };
      const backend = bull.createRedisBackend(name, { ...options, connection }, use);
      backend.on("error", report);
      await backend.waitUntilReady();
      return { backend, connection, close: async () => {} };
    },
    // Redis has no tables: keys are created on use.
    repair: async () => false,
    async close() {
      connection.disconnect();
    },
  };
}
