// Processes that share sessions and tasks on PostgreSQL, and are killed, stopped or lose their server. `SOONG_TEST_CLUSTER_ROUNDS`
// makes it long (scripts/test-cluster.ts).

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import type { Store } from "../../../packages/store/src/index.ts";
import { createTasks } from "../../../packages/tasks/src/index.ts";
import { startPostgres, type PostgresServer } from "../../postgres/server.ts";
import { needsPostgres, usePostgres } from "../../postgres/shared.ts";
import { bundleHolders, type HolderProcess, type HolderProcesses } from "./holder-processes.ts";
import { ask, openWhenFree, proxyTo, storeAt } from "./postgres-stage.ts";

const ROUNDS = Number(process.env["SOONG_TEST_CLUSTER_ROUNDS"] ?? "0");
const isLong = ROUNDS > 0;
const KILLS = isLong ? ROUNDS : 6;
const RESTARTS = isLong ? Math.ceil(ROUNDS / 10) : 2;
const PARTITIONS = isLong ? Math.ceil(ROUNDS / 4) : 2;
const CLAIMERS = isLong ? 16 : 4;
/** With 200 rounds, 2 000 for each claimer. */
const STEPS = isLong ? 160 * ROUNDS : 60;
const STEPS_OF_TASK = isLong ? 4_000 : 30;
const LONG_MS = isLong ? 3_600_000 : 120_000;

let processes: HolderProcesses;
beforeAll(async () => {
  processes = await bundleHolders();
});
afterAll(() => processes.remove());

test(
  "a holder killed at any moment loses nothing it reported, and the next one continues",
  { timeout: LONG_MS },
  async () => {
    verifies("STORE-3", "DIST-2");
    const url = await usePostgres();
    let lastSeq = 0;
    const done = new Set<string>();
    const tookMs: number[] = [];
    let killedAt: number | undefined;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const holder = await processes.start({ deed: "call", url });
      await holder.wait("holds");
      if (killedAt !== undefined) tookMs.push(performance.now() - killedAt);
      await delay(Math.random() * 60);
      killedAt = performance.now();
      holder.child.kill("SIGKILL");
      await holder.ended();
      for (const { seq = 0, status, tool_call_id } of holder.reported) {
        lastSeq = Math.max(lastSeq, seq);
        if (status === "succeeded") done.add(tool_call_id ?? "");
      }
    }
    expect(done.size).toBeGreaterThan(0);
    const store = await storeAt(url);
    await (await openWhenFree(store, "s1")).close();
    await expectWhole(store, "s1", lastSeq, done);
    log(`${KILLS} kills: ${done.size} calls reported; taken over in ${describe(tookMs)} ms`);
  },
);

test(
  "a server that crashes while three processes append loses nothing that was reported",
  { timeout: LONG_MS },
  async () => {
    verifies("STORE-1", "STORE-3");
    await needsPostgres();
    const server = await ownServer();
    const url = await server.createDatabase();
    const holders: HolderProcess[] = [];
    for (const session_id of ["a", "b", "c"]) {
      holders.push(await processes.start({ deed: "call", url, session_id }));
    }
    for (const holder of holders) await holder.wait("holds");
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await delay(100 + Math.random() * 200);
      await server.restart("immediate");
      // Each of them works again before the next one.
      for (const holder of holders) {
        await holder.more();
      }
    }
    for (const holder of holders) holder.say("stop");
    const store = await storeAt(url);
    let calls = 0;
    for (const [i, session_id] of ["a", "b", "c"].entries()) {
      const holder = holders[i] as HolderProcess;
      await holder.wait("closed");
      const failed = holder.reported.filter(
        ({ status }) => status !== undefined && status !== "succeeded",
      );
      expect(failed).toEqual([]);
      const reported = holder.reported.filter(({ status }) => status === "succeeded");
      calls += reported.length;
      const done = new Set(reported.map(({ tool_call_id = "" }) => tool_call_id));
      await expectWhole(store, session_id, reported.at(-1)?.seq ?? 0, done);
    }
    log(`${RESTARTS} immediate restarts: ${calls} calls reported, none lost, none failed`);
  },
);

test(
  "a holder that was stopped for longer than its lease writes nothing once it continues",
  { timeout: LONG_MS },
  async () => {
    verifies("STORE-3", "DIST-2");
    const url = await usePostgres();
    const first = await processes.start({ deed: "call", url, lease_ms: 1_000, pause_ms: 1 });
    await first.wait("seq");
    first.child.kill("SIGSTOP");
    const store = await storeAt(url, { leaseMs: 1_000 });
    const session = await openWhenFree(store, "s1");
    const { last_seq, head_hash } = await session.reader.record();
    first.child.kill("SIGCONT");
    await first.wait("lost");
    expect((await first.wait("error")).message).toContain("Session s1 was lost");
    await first.ended();
    expect(await session.reader.record()).toMatchObject({ last_seq, head_hash });
    await session.close();
    const reported = first.reported.filter(({ status }) => status === "succeeded");
    const done = new Set(reported.map(({ tool_call_id = "" }) => tool_call_id));
    await expectWhole(store, "s1", reported.at(-1)?.seq ?? 0, done);
  },
);

test(
  "a network that breaks again and again loses nothing and records nothing twice",
  { timeout: LONG_MS },
  async () => {
    verifies("STORE-3");
    const url = await usePostgres();
    const proxy = await proxyTo(url);
    const holder = await processes.start({ deed: "call", url: proxy.url, lease_ms: 20_000 });
    await holder.wait("seq");
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      await delay(Math.random() * 100);
      if (partition % 2 === 0) proxy.reset();
      else proxy.hole();
      await delay(Math.random() * 300);
      proxy.heal();
      await holder.more();
    }
    holder.say("stop");
    await holder.wait("closed");
    const reported = holder.reported.filter(({ status }) => status !== undefined);
    expect(reported.filter(({ status }) => status !== "succeeded")).toEqual([]);
    const done = new Set(reported.map(({ tool_call_id = "" }) => tool_call_id));
    await expectWhole(await storeAt(url), "s1", reported.at(-1)?.seq ?? 0, done);
    log(`${PARTITIONS} partitions: ${reported.length} calls reported, none lost, none failed`);
  },
);

test("no step is claimed twice, however many processes claim", { timeout: LONG_MS }, async () => {
  verifies("DIST-1", "TASK-4");
  const url = await usePostgres();
  const store = await storeAt(url);
  const task_ids: string[] = [];
  for (let left = STEPS; left > 0; left -= STEPS_OF_TASK) {
    task_ids.push(await createTask(store, Math.min(left, STEPS_OF_TASK)));
  }
  const workers = await Promise.all(
    Array.from({ length: CLAIMERS }, (_, i) =>
      processes.start({ deed: "claim", url, task_ids, run_id: `run_${i}` }),
    ),
  );
  for (const worker of workers) await worker.wait("ready");
  const begunAt = performance.now();
  for (const worker of workers) worker.say("go");
  for (const worker of workers) await worker.wait("nothing");
  const perSecond = (1000 * STEPS) / (performance.now() - begunAt);
  const claimed = workers.map(({ reported }) => reported.flatMap((one) => one.claimed ?? []));
  expect(claimed.flat()).toHaveLength(STEPS);
  expect(new Set(claimed.flat()).size).toBe(STEPS);
  const rows = await ask(
    url,
    "SELECT 1 FROM soong.task_steps WHERE status = 'completed' AND CAST(state AS json) ->> 'attempts' = '1'",
  );
  expect(rows).toHaveLength(STEPS);
  const most = Math.max(...claimed.map(({ length }) => length));
  const least = Math.min(...claimed.map(({ length }) => length));
  log(
    `${CLAIMERS} processes made ${STEPS} claims, ${least} to ${most} each: 0 double; ${perSecond.toFixed(0)} claimed and completed a second`,
  );
});

test(
  "a worker whose clock is five minutes off takes no step early and loses none",
  { timeout: LONG_MS },
  async () => {
    verifies("DIST-1", "TASK-4");
    const url = await usePostgres();
    const store = await storeAt(url);
    const task_id = await createTask(store, 1);
    const claim = { deed: "claim", url, task_ids: [task_id] } as const;
    const holder = await processes.start({
      ...claim,
      run_id: "run_a",
      ahead_ms: -300_000,
      holds: true,
    });
    await holder.wait("ready");
    holder.say("go");
    await holder.wait("claimed");
    for (const ahead_ms of [300_000, -300_000]) {
      const other = await processes.start({ ...claim, run_id: `run_${ahead_ms}`, ahead_ms });
      await other.wait("ready");
      other.say("go");
      await other.wait("nothing");
      expect(other.reported.some(({ claimed }) => claimed !== undefined)).toBe(false);
    }
  },
);

test("processes that open an empty database at the same moment make one store", async () => {
  verifies("STORE-4");
  const url = await usePostgres();
  const openers = await Promise.all(
    Array.from({ length: 8 }, () => processes.start({ deed: "open", url })),
  );
  for (const opener of openers) await opener.wait("ready");
  for (const opener of openers) opener.say("go");
  for (const opener of openers) expect(await opener.wait("sessions")).toEqual({ sessions: 0 });
  const versions = await ask(
    url,
    "SELECT version FROM soong.soong_store GROUP BY version HAVING count(*) > 1",
  );
  expect(versions).toEqual([]);
});

/** The chain holds, nothing that was reported is missing, and every call has one start and one end. */
async function expectWhole(
  store: Store,
  session_id: string,
  lastSeq: number,
  done: ReadonlySet<string>,
): Promise<void> {
  expect(await store.verify(session_id)).toMatchObject({ ok: true });
  const reader = await store.readSession(session_id);
  expect((await reader.record()).last_seq).toBeGreaterThanOrEqual(lastSeq);
  const ended = new Map<string, string[]>();
  const started = new Map<string, number>();
  for (let after = 0; ;) {
    const facts = await reader.facts({ after, limit: 5_000 });
    if (facts.length === 0) break;
    after = facts.at(-1)?.seq ?? after;
    for (const { type, tool_call_id = "" } of facts) {
      if (type === "tool.started") started.set(tool_call_id, (started.get(tool_call_id) ?? 0) + 1);
      if (type === "tool.completed" || type === "tool.failed") {
        ended.set(tool_call_id, [...(ended.get(tool_call_id) ?? []), type]);
      }
    }
  }
  expect([...started.values()].filter((count) => count !== 1)).toEqual([]);
  expect([...ended.values()].filter(({ length }) => length !== 1)).toEqual([]);
  for (const id of started.keys()) expect(ended.has(id)).toBe(true);
  for (const id of done) expect(ended.get(id)).toEqual(["tool.completed"]);
}

async function createTask(store: Store, steps: number): Promise<string> {
  if ((await store.countSessions()) === 0) {
    await (await store.createSession({ session_id: "s1" })).close();
  }
  const { task } = await createTasks({ storage: store.tasks() }).create(
    { actor: { kind: "orchestrator", session_id: "s1", run_id: "run_o", agent_id: "agent_o" } },
    {
      title: "Many steps",
      goal: "Each is done once",
      steps: Array.from({ length: steps }, (_, i) => ({
        step_id: `step_${i}`,
        title: `Do ${i}`,
        instructions: `All of ${i}.`,
        depends_on: [],
      })),
    },
  );
  return task.task_id;
}

async function ownServer(): Promise<PostgresServer> {
  const server = await startPostgres({ fsync: isLong });
  onTestFinished(() => server.stop());
  return server;
}

function describe(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
  return `${at(0.5)} (half), ${at(0.95)} (19 of 20)`;
}

function log(line: string): void {
  if (isLong) console.log(line);
}
