// A worker in a process of its own: how long from the start of a dispatch to its claim, from the abort of the dispatching call
// to the end of the worker's run, and what it asks of the database while it has nothing to do.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { askNumber, machineNow, startHelper, withPostgres } from "../store-pg.mjs";
import { digits } from "../table.mjs";

/**
 * @import { Client } from "pg"
 * @import { Settings, WorkerSaid } from "../store-pg-worker.mjs"
 * @import { Database, Helper } from "../store-pg.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 *
 * @typedef {Helper<never, WorkerSaid>} Worker
 * @typedef {Awaited<ReturnType<typeof openLead>>} Lead
 */

/** So that the worker has nothing left to do when the next step comes. */
const PAUSE_MS = 200;
/** A connection reports what it did after ten seconds of silence at the latest. */
const REPORTED_MS = 12_000;
const IDLE = "an idle worker";
const DISPATCHED = "dispatch_worker to the claim";
const CANCELLED = "abort of the call to the end of the worker's run";

/** @type {Report} */
export const storePgWorker = {
  id: "store-pg-worker",
  title: "A worker of a pool on PostgreSQL, in a process of its own, idle before each step",
  rows: [IDLE, `${DISPATCHED}, p50`, `${CANCELLED}, p95`],
  report: ({ quick }) =>
    withPostgres(async (database) => {
      const client = await database.connect();
      const rounds = quick ? 15 : 30;
      const windowMs = quick ? 10_000 : 20_000;
      /** @type {ReportRow[]} */
      const rows = [];
      await withWorker(database, { waits: true }, async (worker) => {
        rows.push(await traffic(IDLE, client, windowMs));
        const lead = await openLead(database);
        rows.push(await traffic("and one who dispatches, both idle", client, windowMs));
        const stop = new AbortController();
        const waits = said(worker, "waits");
        const driving = lead.drive(await lead.plan(), stop.signal);
        await waits;
        rows.push(await traffic("both, with a step under way that waits", client, windowMs));
        stop.abort("it was cancelled");
        await driving;
        rows.push(...(await cancels(lead, worker, rounds)));
        await lead.close();
      });
      await withWorker(database, { takesBareJobs: true }, async (worker) => {
        const lead = await openLead(database);
        rows.push(...(await dispatches(lead, worker, rounds)));
        await lead.close();
      });
      return rows;
    }),
};

/** @param {Database} database */
async function openLead({ url, open }) {
  const { driveTask, scriptedModel } = await import("@soong/agent");
  const { createRemoteWorkers } = await import("@soong/worker");
  const { openSide, POLICY, POOL, WAIT_TOOL } = await import("../store-pg-side.mjs");
  const store = await open();
  const { tasks, agents, kernel, keeper, queue } = await openSide({
    url,
    store,
    pool: { size: 1, remote: true, allowed_tools: [WAIT_TOOL] },
    remote: (own, jobs) =>
      createRemoteWorkers({
        tasks: own,
        store: async () => store,
        queue: () => jobs,
        hooks: [],
        places: {},
      }),
  });
  const kept = await store.createSession();
  const session = await kernel.openSession({ ...kept, policy: POLICY });
  let started = Number.NaN;
  session.watch({ types: new Set(["tool.started"]) }, () => {
    started = machineNow();
  });
  const { session_id } = session;
  const actor = { kind: "orchestrator", session_id, run_id: "r", agent_id: "a" };
  return {
    queue,
    /** When the last call began. */
    started: () => started,
    /** A task of one step. @returns {Promise<string>} */
    async plan() {
      const steps = [{ step_id: "work", title: "Work", instructions: "Do it." }];
      const plan = { title: "One", goal: "It is done.", steps };
      const caller = /** @type {import("@soong/tasks").TaskCaller} */ ({ actor });
      return (await tasks.create(caller, plan)).task.task_id;
    },
    /** @param {string} task_id @param {AbortSignal} [signal] */
    drive: (task_id, signal) =>
      driveTask({
        session,
        task_id,
        agents,
        tasks,
        models: [scriptedModel({ turns: [] })],
        pools: [POOL],
        ...(signal && { signal }),
      }),
    async close() {
      await session.close();
      await kept.close();
      await keeper.close();
      await queue.close();
    },
  };
}

/**
 * @param {Database} database @param {Pick<Settings, "waits" | "takesBareJobs">} how
 * @param {(worker: Worker) => Promise<void>} work
 */
async function withWorker({ url, home }, how, work) {
  const directory = join(home, how.waits ? "worker-that-waits" : "worker");
  /** @type {Worker} */
  const worker = await startHelper("./store-pg-worker.mjs", { url, directory, ...how });
  try {
    await work(worker);
  } finally {
    await worker.end();
  }
}

/** @param {Lead} lead @param {Worker} worker @param {number} rounds */
async function dispatches(lead, worker, rounds) {
  const queue = [];
  const claims = [];
  const ends = [];
  for (let round = 0; round <= rounds; round += 1) {
    await delay(PAUSE_MS);
    const job = said(worker, "job");
    const addedAt = machineNow();
    await lead.queue.add("bare", { id: `job ${round}`, data: {} });
    const taken = (await job).at - addedAt;
    const task_id = await lead.plan();
    await delay(PAUSE_MS);
    const claimed = said(worker, "claimed", task_id);
    const { kind, reason } = await lead.drive(task_id);
    if (kind !== "completed") throw new Error(`the task is ${kind}: ${reason}`);
    // The first round is for the compiler.
    if (round === 0) continue;
    queue.push(taken);
    claims.push((await claimed).at - lead.started());
    ends.push(machineNow() - lead.started());
  }
  return [
    ...quantiles("a job added to the queue alone, to its delivery", queue),
    ...quantiles(DISPATCHED, claims),
    ...quantiles("dispatch_worker to the end of the task", ends),
  ];
}

/** @param {Lead} lead @param {Worker} worker @param {number} rounds */
async function cancels(lead, worker, rounds) {
  const ends = [];
  const returns = [];
  for (let round = 0; round <= rounds; round += 1) {
    await delay(PAUSE_MS);
    const task_id = await lead.plan();
    const waits = said(worker, "waits");
    const ended = said(worker, "ended", task_id);
    const stop = new AbortController();
    const driving = lead.drive(task_id, stop.signal);
    await waits;
    // Until the dispatching call knows its worker.
    await delay(PAUSE_MS);
    const abortedAt = machineNow();
    stop.abort("it was cancelled");
    await driving;
    if (round === 0) continue;
    returns.push(machineNow() - abortedAt);
    ends.push((await ended).at - abortedAt);
  }
  return [...quantiles(CANCELLED, ends), ...quantiles("abort of the call to its return", returns)];
}

/** @param {Worker} worker @param {WorkerSaid["kind"]} kind */
function said(worker, kind, about = "") {
  return worker.next((one) => one.kind === kind && one.line.includes(about));
}

/** @param {string} name @param {number[]} series @returns {ReportRow[]} */
function quantiles(name, series) {
  const sorted = series.toSorted((a, b) => a - b);
  /** @param {number} part */
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
  const note = `p95 ${digits(at(0.95))}, best ${digits(at(0))}, worst ${digits(at(1))}`;
  return [
    { name: `${name}, p50`, value: at(0.5), unit: "ms", note },
    { name: `${name}, p95`, value: at(0.95), unit: "ms" },
  ];
}

/**
 * What all connections to the database ask of it while `ms` pass, and how many there are, without those of the bench.
 *
 * @param {string} name @param {Client} client @param {number} ms @returns {Promise<ReportRow>}
 */
async function traffic(name, client, ms) {
  const transactions = () =>
    askNumber(
      client,
      "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()",
    );
  await delay(REPORTED_MS);
  const before = await transactions();
  await delay(ms);
  const after = await transactions();
  const connections = await askNumber(
    client,
    `SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'soong%'`,
  );
  const note = `${connections} connections`;
  return { name, value: (1000 * (after - before)) / ms, unit: "transactions/s", note };
}
