// A pooler between a store and its server. Poolers know few parameters of a new connection and refuse or drop the others.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { openJobQueue } from "../../../packages/worker/src/index.ts";
import { findFreePort } from "../../postgres/free-port.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { hasProgram } from "../../sandbox/world.ts";
import { skipTest } from "../../skip-test.ts";
import { refusal, storeAt, until } from "./postgres-stage.ts";

test("a connection is begun with nothing that a pooler in session mode does not take", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  const begun = await recordStartups(url);
  const store = await storeAt(begun.url);
  await (await store.createSession({ session_id: "s1" })).close();
  const unlisten = store.cluster?.listen("facts/s1", () => {});
  const queue = await openJobQueue(begun.url);
  onTestFinished(() => queue.close());
  await queue.take("builders", { concurrency: 1, handle: async () => "done" });
  await queue.add("builders", { id: "1", data: {} });
  await until(() => begun.programs.has("soong listener"));
  unlisten?.();
  expect([...begun.programs].toSorted()).toEqual(["soong", "soong listener", "soong-queue"]);
  // PgBouncer knows these.
  const known = new Set(["user", "database", "application_name", "client_encoding"]);
  expect([...begun.parameters].filter((name) => !known.has(name))).toEqual([]);
});

test("PgBouncer in session mode is a way to it", async () => {
  verifies("STORE-1");
  const url = await startPgBouncer(await usePostgres());
  const store = await storeAt(url);
  const session = await store.createSession({ session_id: "s1" });
  await session.close();
  expect(await (await storeAt(url, { readOnly: true })).countSessions()).toBe(1);
  const queue = await openJobQueue(url);
  onTestFinished(() => queue.close());
  const delivered: string[] = [];
  await queue.take("builders", {
    concurrency: 1,
    handle: async ({ id }) => {
      delivered.push(id);
      return "done";
    },
  });
  await queue.add("builders", { id: "1", data: {} });
  await until(() => delivered.length > 0);
  expect(delivered).toEqual(["1"]);
  expect(await refusal(() => storeAt(`${url}?options=-c%20geqo%3Doff`))).toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("does not take the options of the URL; remove them") as string,
  });
});

test("PgBouncer in transaction mode is refused", async () => {
  verifies("STORE-1");
  const url = await startPgBouncer(await usePostgres(), "transaction");
  const using = async (): Promise<void> => {
    const store = await storeAt(url);
    const all = Array.from({ length: 4 }, (_, i) => store.createSession({ session_id: `s${i}` }));
    await Promise.all(all);
  };
  expect(await refusal(using)).toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("set pool_mode = session there") as string,
  });
});

/** The same server by way of a proxy that reads how each connection begins. */
async function recordStartups(url: string) {
  const target = new URL(url);
  const parameters = new Set<string>();
  const programs = new Set<string>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.once("data", (bytes) => {
      // Its length, the version of the protocol, then names and values that end with NUL.
      const texts = bytes.subarray(8).toString().split("\0");
      for (let i = 0; texts[i]; i += 2) {
        parameters.add(texts[i] ?? "");
        if (texts[i] === "application_name") programs.add(texts[i + 1] ?? "");
      }
      upstream.write(bytes);
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  const port = await findFreePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${port}`;
  return { url: proxied.href, parameters, programs };
}

async function startPgBouncer(given: string, mode = "session"): Promise<string> {
  if (!hasProgram("pgbouncer")) skipTest("PgBouncer (Debian's `pgbouncer`)");
  const url = new URL(given);
  const directory = await mkdtemp(join(tmpdir(), "soong-pgbouncer-"));
  // It does not run as root, and reads this as someone else.
  await chmod(directory, 0o755);
  const port = await findFreePort();
  const password = url.password === "" ? "" : `password=${decodeURIComponent(url.password)}`;
  const config = join(directory, "pgbouncer.ini");
  await writeFile(
    config,
    `[databases]
* = host=${url.hostname} port=${url.port} user=${url.username} ${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
  );
  const who = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("pgbouncer", [...who, config], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(directory, { recursive: true, force: true });
  });
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes("process up")) break;
  }
  child.stderr.resume();
  return `postgres://soong@127.0.0.1:${port}${url.pathname}`;
}
