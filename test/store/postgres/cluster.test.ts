// What machines say to each other through PostgreSQL. Each store here is as of another machine.

import { verifies } from "#laws";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  openStore,
  type ClusterStorage,
  type SessionCommand,
  type Store,
  type WorkerReport,
} from "../../../packages/store/src/index.ts";
import { writtenFact } from "../../facts.ts";
import { createCluster } from "../../../packages/store/src/postgres/cluster.ts";
import { openConnections } from "../../../packages/store/src/postgres/connection.ts";
import { readAddress } from "../../../packages/store/src/postgres/store-address.ts";
import { startProxy } from "../../postgres/proxy.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { ask } from "./postgres-stage.ts";

const WORKER: WorkerReport = {
  worker_id: "w1",
  pool: "default",
  host: "host-a",
  pid: 17,
  version: "0.1.0",
  concurrency: 2,
  started_at: "2026-01-01T00:00:00.000Z",
  doing: [],
};

test("workers are listed by pool and host, with what they do, until they leave", async () => {
  const url = await usePostgres();
  const { cluster } = await openMachine(url);
  const doing = [{ task_id: "t1", step_id: "s1", since: "2026-01-01T00:00:01.000Z" }];
  await cluster.reportWorker({ ...WORKER, worker_id: "w3", pool: "gpu" });
  await cluster.reportWorker({ ...WORKER, worker_id: "w2", host: "host-b" });
  await cluster.reportWorker(WORKER);
  await cluster.reportWorker({ ...WORKER, doing });
  const other = (await openMachine(url)).cluster;
  const found = await other.workers();
  expect(found.map(({ worker_id }) => worker_id)).toEqual(["w1", "w2", "w3"]);
  const { seen_at, ...first } = found[0] as (typeof found)[0];
  expect(first).toEqual({ ...WORKER, doing, draining: false });
  expect(Math.abs(Date.parse(seen_at) - Date.now())).toBeLessThan(60_000);
  await cluster.removeWorker("w1");
  await ask(
    url,
    "UPDATE soong.pool_workers SET seen_at = seen_at - interval '61 s' WHERE host = 'host-b'",
  );
  expect((await other.workers()).map(({ worker_id }) => worker_id)).toEqual(["w3"]);
  expect(await other.workers({ seenWithinMs: 120_000 })).toHaveLength(2);
});

test("rows that were written by hand keep no one from the others", async () => {
  verifies("DIST-1");
  const url = await usePostgres();
  const { store, cluster } = await openMachine(url);
  await cluster.reportWorker(WORKER);
  await cluster.reportWorker({ ...WORKER, worker_id: "w2" });
  await cluster.reportWorker({ ...WORKER, worker_id: "w3" });
  const session = await store.createSession({ session_id: "s1" });
  await store.questions().ask(QUESTION);
  await ask(
    url,
    `UPDATE soong.pool_workers SET seen_at = 'infinity' WHERE worker_id = 'w2';
     UPDATE soong.pool_workers SET doing = '[{"task_id":1},null]' WHERE worker_id = 'w3';
     UPDATE soong.questions SET tool_name = '"half';
     UPDATE soong.sessions SET project = '"half', holder = '5'`,
  );
  const reader = await openMachine(url, { readOnly: true });
  expect((await reader.cluster.workers()).map(({ worker_id }) => worker_id)).toEqual(["w1", "w3"]);
  expect(await reader.store.questions().list()).toMatchObject([{ tool_name: '"half' }]);
  expect(await reader.store.sessions({ limit: 9 })).toMatchObject([{ project: '"half' }]);
  expect(await reader.cluster.holders()).toMatchObject([{ session_id: "s1" }]);
  await cluster.reportWorker(WORKER);
  expect(await ask(url, "SELECT 1 FROM soong.pool_workers WHERE worker_id = 'w2'")).toEqual([]);
  await session.close();
});

test("a worker that is to drain learns it at once and with its next report; started again it drains no more", async () => {
  const url = await usePostgres();
  const [one, other] = [(await openMachine(url)).cluster, (await openMachine(url)).cluster];
  expect(await one.reportWorker(WORKER)).toEqual({ draining: false });
  const woken = await listenTo(one, "worker/w1");
  expect(await other.drainWorker("w2")).toBeUndefined();
  expect(await other.drainWorker("w1")).toMatchObject({ worker_id: "w1", draining: true });
  await vi.waitFor(() => expect(woken).toHaveBeenCalled(), LONG);
  expect(await one.reportWorker(WORKER)).toEqual({ draining: true });
  const started_at = "2026-01-02T00:00:00.000Z";
  expect(await one.reportWorker({ ...WORKER, started_at })).toEqual({ draining: false });
});

test("a worker that ended without a word is forgotten after a day", async () => {
  const url = await usePostgres();
  const { cluster } = await openMachine(url);
  await cluster.reportWorker({ ...WORKER, worker_id: "gone" });
  await ask(url, "UPDATE soong.pool_workers SET seen_at = seen_at - interval '25 h'");
  await cluster.reportWorker(WORKER);
  expect(await ask(url, "SELECT worker_id FROM soong.pool_workers")).toEqual([{ worker_id: "w1" }]);
});

test("what another program wrote as a worker keeps no one from listing the others", async () => {
  const url = await usePostgres();
  const { cluster } = await openMachine(url);
  await cluster.reportWorker(WORKER);
  await cluster.reportWorker({ ...WORKER, worker_id: "w2" });
  await ask(url, "UPDATE soong.pool_workers SET doing = '{' WHERE worker_id = 'w2'");
  expect(await cluster.workers()).toMatchObject([
    { worker_id: "w1", doing: WORKER.doing },
    { worker_id: "w2", doing: [] },
  ]);
});

test("the database's clock is the measure", async () => {
  const { cluster } = await openMachine(await usePostgres());
  expect(Math.abs(await cluster.clockOffsetMs())).toBeLessThan(1_000);
  const now = vi
    .spyOn(Date, "now")
    .mockImplementation(() => performance.timeOrigin + performance.now() + 300_000);
  onTestFinished(() => now.mockRestore());
  expect(Math.round((await cluster.clockOffsetMs()) / 10_000)).toBe(30);
});

test("a command reaches the holder of the session, once, in order", async () => {
  const url = await usePostgres();
  const [holder, other] = [await openMachine(url), await openMachine(url)];
  expect(await other.cluster.send("s1", abort("no such session"))).toBe(false);
  const session = await holder.store.createSession({ session_id: "s1" });
  const taken: SessionCommand[] = [];
  // Sent before anyone takes commands.
  expect(await other.cluster.send("s1", abort("first"))).toBe(true);
  const stop = holder.cluster.onCommand("s1", (command) => taken.push(command));
  await vi.waitFor(() => expect(taken).toHaveLength(1), LONG);
  expect(await other.cluster.send("s1", abort("second"))).toBe(true);
  expect(await other.cluster.send("s1", { kind: "revoke", grant_id: "g1" })).toBe(true);
  await vi.waitFor(() => expect(taken).toHaveLength(3), LONG);
  await vi.waitFor(async () => expect(await openCommands(url)).toBe(0), LONG);
  expect(taken).toEqual([abort("first"), abort("second"), { kind: "revoke", grant_id: "g1" }]);
  stop();
  await session.close();
  expect(await other.cluster.send("s1", abort("late"))).toBe(false);
});

test("a command is taken when it is sent, without a regular look", async () => {
  const url = await usePostgres();
  const { store, cluster: other } = await openMachine(url);
  await store.createSession({ session_id: "s1" });
  await ask(url, "UPDATE soong.sessions SET epoch = 1");
  const connections = await openConnections(readAddress(url), {
    readOnly: false,
    answerTimeoutMs: 5_000,
  });
  // It stands for the holder; of the rest of a store it needs nothing for this.
  const quiet = createCluster({
    connections,
    runner: undefined as never,
    schema: "soong",
    held: () => [{ session_id: "s1", session_no: 1, epoch: 1 }],
    beatMs: 2 ** 30,
  });
  onTestFinished(async () => {
    await quiet.close();
    await connections.close();
  });
  const taken = vi.fn<(command: SessionCommand) => void>();
  quiet.onCommand("s1", taken);
  await listenTo(quiet, "topic");
  for (const reason of ["first", "second"]) {
    await other.send("s1", abort(reason));
    await vi.waitFor(() => expect(taken).toHaveBeenLastCalledWith(abort(reason)), LONG);
  }
  expect(taken).toHaveBeenCalledTimes(2);
});

test("a command is for one holder of a session, and never for the next", async () => {
  const url = await usePostgres();
  const [first, next] = [await openMachine(url), await openMachine(url)];
  const session = await first.store.createSession({ session_id: "s1" });
  expect(await next.cluster.send("s1", abort("for the first"))).toBe(true);
  await session.close();
  await next.store.openSession("s1");
  const taken = vi.fn<(command: SessionCommand) => void>();
  next.cluster.onCommand("s1", taken);
  await first.cluster.send("s1", abort("for the next"));
  await vi.waitFor(() => expect(taken).toHaveBeenCalled(), LONG);
  expect(taken.mock.calls).toEqual([[abort("for the next")]]);
});

test("the commands of a session are removed with it", async () => {
  const url = await usePostgres();
  const { store, cluster } = await openMachine(url);
  const session = await store.createSession({ session_id: "s1" });
  await cluster.send("s1", abort("stop"));
  await session.close();
  await store.removeSession("s1");
  expect(await ask(url, "SELECT command_no FROM soong.commands")).toEqual([]);
});

test("a wake-up reaches those who listen to its topic in the same schema, on any machine", async () => {
  const url = await usePostgres();
  const [one, other] = [(await openMachine(url)).cluster, (await openMachine(url)).cluster];
  const elsewhere = (await openMachine(`${url}?schema=elsewhere`)).cluster;
  const [here, there, onOtherTopic, inOtherSchema] = [
    await listenTo(one, "topic"),
    await listenTo(other, "topic"),
    await listenTo(other, "another topic"),
    await listenTo(elsewhere, "topic"),
  ];
  one.wake("topic");
  await vi.waitFor(
    () => expect([here, there].every(({ mock }) => mock.calls.length > 0)).toBe(true),
    LONG,
  );
  // What was sent after it has arrived, so it would have.
  one.wake("another topic");
  elsewhere.wake("topic");
  await vi.waitFor(() => expect(onOtherTopic).toHaveBeenCalled(), LONG);
  await vi.waitFor(() => expect(inOtherSchema).toHaveBeenCalled(), LONG);
  expect([here, there, onOtherTopic, inOtherSchema].map(({ mock }) => mock.calls.length)).toEqual([
    1, 1, 1, 1,
  ]);
});

test("many wake-ups become few notices, and the last one is not lost", async () => {
  const url = await usePostgres();
  const [one, other] = [(await openMachine(url)).cluster, (await openMachine(url)).cluster];
  const woken = await listenTo(other, "topic");
  for (let count = 0; count < 1_000; count += 1) one.wake("topic");
  await vi.waitFor(() => expect(woken).toHaveBeenCalledTimes(1), LONG);
  one.wake("topic");
  await vi.waitFor(() => expect(woken).toHaveBeenCalledTimes(2), LONG);
});

test("who follows a session is woken by its facts, its questions and their answers", async () => {
  const url = await usePostgres();
  const [holder, other] = [await openMachine(url), await openMachine(url)];
  const { journal } = await holder.store.createSession({ session_id: "s1" });
  const facts = await listenTo(other.cluster, "facts/s1");
  const ofOther = await listenTo(other.cluster, "facts/s2");
  journal.append({ facts: [writtenFact({ type: "error", session_id: "s1" })] });
  await vi.waitFor(() => expect(facts).toHaveBeenCalled(), LONG);
  const asked = await listenTo(other.cluster, "questions");
  const ofSession = await listenTo(holder.cluster, "questions/s1");
  await holder.store.questions().ask(QUESTION);
  await vi.waitFor(() => expect([asked, ofSession].map(isCalled)).toEqual([true, true]), LONG);
  for (const woken of [asked, ofSession]) woken.mockClear();
  const answer = { answer: { decision: "deny" }, answered_by: "me", answered_at: "" };
  await other.store.questions().answer("s1", "ask_1", answer);
  await vi.waitFor(() => expect([asked, ofSession].map(isCalled)).toEqual([true, true]), LONG);
  expect(ofOther).not.toHaveBeenCalled();
});

test("the holders of sessions are listed with what is under way, on any machine", async () => {
  const url = await usePostgres();
  const [one, other] = [await openMachine(url), await openMachine(url)];
  const first = await one.store.createSession({ session_id: "s1", project: "/p" });
  const second = await one.store.createSession({ session_id: "s2" });
  const run = { session_id: "s1", run_id: "r1", agent_id: "main" };
  first.journal.append({
    facts: [writtenFact({ ...run, type: "run.started", run_seq: 1, data: { role: "main" } })],
  });
  await first.journal.flush();
  await second.close();
  expect(await other.cluster.holders()).toEqual([
    {
      session_id: "s1",
      project: "/p",
      pid: process.pid,
      host: hostname(),
      since: expect.any(String) as string,
      runs: [
        { run_id: "r1", agent_id: "main", role: "main", started_at: "2026-01-01T00:00:00.000Z" },
      ],
    },
  ]);
  await first.close();
  expect(await other.cluster.holders()).toEqual([]);
});

test("there is one connection for all who listen, and none when no one does", async () => {
  const url = await usePostgres();
  const { cluster } = await openMachine(url);
  expect(await listening(url)).toBe(0);
  const ends = [cluster.listen("one", () => {}), cluster.listen("two", () => {})];
  await vi.waitFor(async () => expect(await listening(url)).toBe(1), LONG);
  ends.push(cluster.listen("three", () => {}));
  await listenTo(cluster, "four").then((woken) => ends.push(woken.end));
  expect(await listening(url)).toBe(1);
  for (const end of ends) end();
  await vi.waitFor(async () => expect(await listening(url)).toBe(0), LONG);
});

test("after its connection was lost everyone looks, and no command is lost or taken twice", async () => {
  const url = await usePostgres();
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  const { cluster, store } = await openMachine(proxy.url);
  const other = (await openMachine(url)).cluster;
  const woken = await listenTo(cluster, "topic");
  await store.createSession({ session_id: "s1" });
  const taken = vi.fn<(command: SessionCommand) => void>();
  cluster.onCommand("s1", taken);
  await vi.waitFor(async () => expect(await listening(url)).toBe(1), LONG);
  proxy.reset();
  await vi.waitFor(async () => expect(await listening(url)).toBe(0), LONG);
  other.wake("topic");
  await other.send("s1", abort("while it was away"));
  expect([woken, taken].map(({ mock }) => mock.calls)).toEqual([[], []]);
  proxy.heal();
  await vi.waitFor(() => expect(woken).toHaveBeenCalledTimes(1), LONG);
  await vi.waitFor(() => expect(taken.mock.calls).toEqual([[abort("while it was away")]]), LONG);
  other.wake("topic");
  await vi.waitFor(() => expect(woken).toHaveBeenCalledTimes(2), LONG);
});

test("a store that is only read lists workers and listens, and says that it cannot send", async () => {
  const url = await usePostgres();
  const { store, cluster } = await openMachine(url);
  await store.createSession({ session_id: "s1" });
  await cluster.reportWorker(WORKER);
  const reader = await openMachine(url, { readOnly: true });
  expect(await reader.cluster.workers()).toHaveLength(1);
  const woken = await listenTo(reader.cluster, "topic");
  cluster.wake("topic");
  await vi.waitFor(() => expect(woken).toHaveBeenCalled(), LONG);
  await expect(reader.cluster.send("s1", abort("stop"))).rejects.toMatchObject({
    code: "store_read_only",
  });
});

const QUESTION = {
  session_id: "s1",
  question_id: "ask_1",
  run_id: "r1",
  agent_id: "main",
  tool_call_id: "c1",
  kind: "permission",
  tool_name: "code.write_file",
  digest: "d",
  asked_at: "2026-01-01T00:00:00.000Z",
  request: {},
} as const;

function isCalled({ mock }: { mock: { calls: unknown[] } }): boolean {
  return mock.calls.length > 0;
}

const LONG = { timeout: 15_000, interval: 20 };

function abort(reason: string): SessionCommand {
  return { kind: "abort", reason };
}

async function openMachine(
  url: string,
  options: { readonly readOnly?: boolean } = {},
): Promise<{ store: Store; cluster: ClusterStorage }> {
  const directory = await mkdtemp(join(tmpdir(), "soong-cluster-"));
  const store = await openStore({ directory, url, busyTimeoutMs: 5_000, ...options });
  onTestFinished(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  if (store.cluster === undefined) throw new Error("a store on PostgreSQL has a cluster");
  return { store, cluster: store.cluster };
}

/** Settles when it is connected. */
async function listenTo(cluster: ClusterStorage, topic: string) {
  const woken = vi.fn<() => void>();
  const end = cluster.listen(topic, woken);
  await vi.waitFor(() => expect(woken).toHaveBeenCalled(), LONG);
  woken.mockClear();
  return Object.assign(woken, { end });
}

async function listening(url: string): Promise<number> {
  const rows = await ask(
    url,
    `SELECT pid FROM pg_stat_activity
      WHERE application_name = 'soong listener' AND datname = current_database()`,
  );
  return rows.length;
}

async function openCommands(url: string): Promise<number> {
  return (await ask(url, "SELECT 1 FROM soong.commands WHERE taken_at IS NULL")).length;
}
