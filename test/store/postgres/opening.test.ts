// Opening a store on PostgreSQL: what is not ours stays as it is, and each refusal says what to do, without the credentials.

import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import { describeStore } from "../../../packages/store/src/index.ts";
import { openJobQueue } from "../../../packages/worker/src/index.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { ask, refusal, storeAt, until } from "./postgres-stage.ts";

test("a store that a newer program has made is refused and not changed", async () => {
  verifies("STORE-4");
  const url = await usePostgres();
  await (await storeAt(url)).close();
  await ask(url, "INSERT INTO soong.soong_store (version) VALUES (999)");
  for (const readOnly of [false, true]) {
    expect(await refusal(() => storeAt(url, { readOnly }))).toMatchObject({
      code: "store_too_new",
      message: expect.stringMatching(/has version 999; .* use a newer Soong\.$/) as string,
    });
  }
  expect(await ask(url, "SELECT session_id FROM soong.sessions")).toEqual([]);
});

test("a login without the password it needs closes its connection at once", async () => {
  verifies("STORE-1");
  let isClosed = false;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("close", () => {
      isClosed = true;
    });
    socket.once("data", () => {
      // AuthenticationSASL, then AuthenticationSASLContinue.
      socket.write(toMessage(10, "SCRAM-SHA-256\0\0"));
      socket.once("data", () => socket.write(toMessage(11, "r=nonce,s=c2FsdA==,i=4096")));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await refusal(() => storeAt(`postgres://soong@127.0.0.1:${port}/soong`))).toMatchObject({
    message: expect.stringContaining("asks for a password, and none is given") as string,
  });
  await until(() => isClosed);
});

test("a server that shuts down as a connection begins counts as away", async () => {
  verifies("STORE-1");
  const server = createServer((socket) => {
    socket.on("error", () => {});
    // AuthenticationOk, ReadyForQuery and the end arrive together.
    const shutdown = "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
    const all = [toMessage(0, ""), write("Z", "I"), write("E", shutdown)];
    socket.once("data", () => socket.end(Buffer.concat(all)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `postgres://soong@127.0.0.1:${port}/soong`;
  expect(await refusal(() => storeAt(url, { busyTimeoutMs: 100 }))).toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("it does not answer") as string,
  });
});

/** An authentication request, as the server sends it. */
function toMessage(kind: number, text: string): Buffer {
  const number = Buffer.alloc(4);
  number.writeInt32BE(kind);
  return write("R", Buffer.concat([number, Buffer.from(text)]));
}

function write(type: string, body: string | Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

test("many statements and jobs at once are not called a leak", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  const store = await storeAt(url);
  const queue = await openJobQueue(url);
  onTestFinished(() => queue.close());
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const both = (_: unknown, i: number) =>
    Promise.all([store.countSessions(), queue.add("builders", { id: String(i), data: {} })]);
  await Promise.all(Array.from({ length: 40 }, both));
  expect(warnings).toEqual([]);
});

test("tables of another program with the same names are not touched", async () => {
  verifies("STORE-4");
  const url = await usePostgres();
  await ask(
    url,
    `CREATE TABLE sessions (theirs text); INSERT INTO sessions VALUES ('kept');
     CREATE SCHEMA other; CREATE TABLE other.soong_store (version int); INSERT INTO other.soong_store VALUES (999)`,
  );
  for (const given of [url, withParameter(url, "options", "-c search_path=public")]) {
    const store = await storeAt(given);
    await (await store.createSession()).close();
    await store.close();
  }
  expect(await ask(url, "SELECT * FROM public.sessions")).toEqual([{ theirs: "kept" }]);
  const [made] = await ask<{ count: string }>(url, "SELECT count(*) FROM soong.sessions");
  expect(made?.count).toBe("2");
});

test.each(["bullmq", "pg_mine", "information_schema", "Mixed", 'a"; DROP TABLE x', ""])(
  "a schema that is no place for a store is refused (%j)",
  async (schema) => {
    verifies("STORE-1");
    const url = withParameter(await usePostgres(), "schema", schema);
    expect(await refusal(() => storeAt(url))).toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/^The address of the store has (?:a|the) schema /) as string,
    });
  },
);

test("a machine whose clock is ahead removes nothing early: the age of sessions is by the database's", async () => {
  verifies("ART-4");
  const url = await usePostgres();
  const store = await storeAt(url);
  await (await store.createSession({ session_id: "s1" })).close();
  const ahead = await storeAt(url, { clock: { now: () => Date.now() + 100 * 86_400_000 } });
  expect(await ahead.applyRetention({ max_age_days: 30 })).toMatchObject({ removed: [] });
  expect(await store.sessions()).toHaveLength(1);
});

test("two stores in two schemas of one database know nothing of each other", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  const [a, b] = [await storeAt(withParameter(url, "schema", "a")), await storeAt(url)];
  await (await a.createSession({ session_id: "s1" })).close();
  expect(await b.sessions()).toEqual([]);
});

test("a user without rights on the database is refused, and works once the schema is theirs", async () => {
  verifies("STORE-1", "REDACT-1");
  const url = await usePostgres();
  const name = new URL(url).pathname.slice(1);
  const role = `limited_${name}`;
  await ask(url, `CREATE ROLE ${role} LOGIN PASSWORD 'sesame-${name}'`);
  const theirs = new URL(url);
  theirs.username = role;
  theirs.password = `sesame-${name}`;
  try {
    expect(await refusal(() => storeAt(theirs.href))).toMatchObject({
      code: "store_read_only",
      message: expect.stringMatching(
        /may not do that; GRANT it CONNECT and CREATE on the database/,
      ) as string,
    });
    await ask(url, `CREATE SCHEMA soong AUTHORIZATION ${role}`);
    const store = await storeAt(theirs.href);
    await (await store.createSession()).close();
    await store.close();
  } finally {
    await ask(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});

test("a store of the version before is brought to this one by the next process that writes, with all that is in it", async () => {
  verifies("STORE-4");
  const url = await usePostgres();
  const session = await (await storeAt(url)).createSession({ session_id: "s1" });
  createFactWriter(session).add();
  await session.close();
  await ask(
    url,
    `DROP TABLE soong.commit_marks, soong.withdrawn_dispatches, soong.pool_workers;
     DELETE FROM soong.soong_store WHERE version > 1`,
  );
  // It can be read before.
  const reader = await storeAt(url, { readOnly: true });
  expect(await reader.verify("s1")).toMatchObject({ ok: true, facts: 1 });
  expect(await reader.cluster?.workers()).toEqual([]);
  expect(await describeStore({ directory: "/nowhere", url })).toMatchObject({ version: 1 });
  const store = await storeAt(url);
  expect(await store.verify("s1")).toMatchObject({ ok: true, facts: 1 });
  await (await store.openSession("s1")).close();
  const dispatch = { run_id: "run_1", tool_call_id: "call_1" };
  await store.cluster?.withdrawDispatch(dispatch, "enough");
  expect(await store.cluster?.readWithdrawal(dispatch)).toBe("enough");
  const other = { ...dispatch, tool_call_id: "call_2" };
  expect(await store.cluster?.readWithdrawal(other)).toBe(undefined);
});

test("a store that is only read makes nothing, not even its tables", async () => {
  verifies("STORE-4");
  const url = await usePostgres();
  expect(await refusal(() => storeAt(url, { readOnly: true }))).toMatchObject({
    code: "store_absent",
    message: expect.stringMatching(
      /There is no store at .* Open it for writing, which makes one\.$/,
    ) as string,
  });
  expect(await ask(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'soong'")).toEqual([]);
  await (await storeAt(url)).close();
  const store = await storeAt(url, { readOnly: true });
  expect((await refusal(() => store.createSession())).code).toBe("store_read_only");
  const rows = await ask<{ query: string }>(
    url,
    "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()",
  );
  expect(rows).toEqual([]);
});

test.each<[string, (url: URL) => void, string, RegExp]>([
  [
    "a wrong password",
    (url) => (url.password = "hunter2-wrong"),
    "store_unavailable",
    /does not accept the user or password; check those of the URL/,
  ],
  [
    "a list of hosts",
    (url) => url.searchParams.set("host", "a,b"),
    "store_unavailable",
    /^The address of the store names several hosts, and a store has one\.$/,
  ],
  [
    "a host that does not exist",
    (url) => (url.hostname = "no-such-host.invalid"),
    "store_unavailable",
    /does not answer; check that it runs and can be reached \(getaddrinfo/,
  ],
  [
    "a port where no one listens",
    (url) => (url.port = "1"),
    "store_unavailable",
    /does not answer; check that it runs and can be reached \(connect ECONNREFUSED/,
  ],
  [
    "a database that does not exist",
    (url) => (url.pathname = "/no_such_database"),
    "store_unavailable",
    /there is no such database; create it, or correct the URL/,
  ],
  [
    "TLS where the server has none",
    (url) => url.searchParams.set("sslmode", "verify-full"),
    "store_unavailable",
    /cannot be reached with TLS as the URL says; check its sslmode \(The server does not support SSL/,
  ],
  [
    "a password that is not encoded",
    (url) => (url.password = "hunter2%"),
    "store_unavailable",
    /has a % that does not begin a code such as %40/,
  ],
  [
    "a password that is not encoded and looks like a database",
    (url) => (url.pathname = "/hunter2@host/soong"),
    "store_unavailable",
    /has a special character of a password or a name that is not percent-encoded: write @ as %40/,
  ],
])("%s is reported in one sentence, without the password", async (_what, change, code, message) => {
  verifies("STORE-1", "REDACT-1");
  const url = new URL(await usePostgres());
  url.password = url.password === "" ? "hunter2" : url.password;
  change(url);
  let error: unknown;
  try {
    await storeAt(url.href, { busyTimeoutMs: 300 });
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
  const shown = inspect(error, { depth: 20, showHidden: true });
  expect(shown).not.toContain(decodeSafely(url.password));
  expect((error as Error).message).not.toContain(url.username);
});

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withParameter(given: string, name: string, value: string): string {
  const url = new URL(given);
  url.searchParams.set(name, value);
  return url.href;
}
