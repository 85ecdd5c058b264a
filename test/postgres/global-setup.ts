// One PostgreSQL for a whole run of tests, owned by the process that outlives all workers. It is started when the first
// test asks for it: a run without such tests pays nothing. Workers ask over a local port.

import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { chosenPostgres, findPostgres } from "./find.ts";
import { startPostgres, type PostgresServer } from "./server.ts";
import type { SharedPostgres } from "./shared.ts";

let server: PostgresServer | undefined;
let answer: Promise<SharedPostgres> | undefined;
let answering: Server | undefined;

export async function setup(): Promise<void> {
  answering = createServer((socket) => {
    socket.on("error", () => {});
    answer ??= startShared();
    void answer.then((shared) => socket.end(JSON.stringify(shared)));
  });
  answering.listen(0, "127.0.0.1").unref();
  await once(answering, "listening");
  const { port } = answering.address() as AddressInfo;
  process.env["SOONG_TEST_POSTGRES_PORT"] = String(port);
}

export async function teardown(): Promise<void> {
  answering?.close();
  await answer;
  await server?.stop();
}

async function startShared(): Promise<SharedPostgres> {
  try {
    const choice = chosenPostgres();
    if (typeof choice === "object") return { url: choice.url };
    const found = await findPostgres();
    if ("problem" in found) return { lacks: found.problem };
    server = await startPostgres({ fsync: false });
    return { url: server.url };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
