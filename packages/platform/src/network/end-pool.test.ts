import { createServer, connect, type Socket } from "node:net";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { verifies } from "#laws";
import { expect, onTestFinished, test } from "vitest";
import { preparePoolEnd } from "./end-pool.ts";

test("a pool that ends keeps no process for a server that does not answer, and no connection for long", async () => {
  verifies("DIST-1");
  const accepted: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const stream = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  await once(stream, "connect");
  let endings = 0;
  let add = (_client: { connection: { stream: Socket } }): void => {};
  const end = preparePoolEnd({
    on: (event, listener) => event === "connect" && (add = listener),
    async end() {
      endings += 1;
      stream.end();
    },
  });
  add({ connection: { stream } });
  await Promise.all([end(), end()]);
  expect(endings).toBe(1);
  const handle = (stream as unknown as { _handle: { hasRef(): boolean } })._handle;
  expect(handle.hasRef()).toBe(false);
  while (!stream.destroyed) await delay(20);
});
