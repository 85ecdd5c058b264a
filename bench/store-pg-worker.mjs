// A worker in a process of its own: reports when it has claimed a step, when its tool waits, and when its run has ended.

import { loopLimits, scriptedModel } from "@soong/agent";
import { openStore } from "@soong/store";
import { runWorker } from "@soong/worker";
import { openSide, POLICY, POOL, WAIT_TOOL } from "./store-pg-side.mjs";
import { machineNow } from "./store-pg.mjs";

/**
 * @import { ScriptTurn } from "@soong/agent"
 * @typedef {object} Settings
 * @property {string} url
 * @property {string} directory
 * @property {boolean} [waits]  its steps never end by themselves
 * @property {boolean} [takesBareJobs]  also jobs of the pool "bare", of which it only says that they came
 * @typedef {{ kind: "ready" | "job" | "claimed" | "waits" | "ended", at: number, line: string }} WorkerSaid
 *   line: with the id of the task, of a claim and an end
 */

/** How often it may be started. */
const STARTS = 500;

const { url, directory, waits, takesBareJobs } = /** @type {Settings} */ (
  JSON.parse(process.argv[2] ?? "")
);
const store = await openStore({ directory, url });
const { cluster } = store;
if (cluster === undefined) throw new Error("this is no store of a cluster");
const side = await openSide({
  url,
  store,
  pool: { size: 1, place: "bench", allowed_tools: [WAIT_TOOL] },
  onWait: () => say("waits"),
});
const { tasks, keeper, agents, kernel, queue } = side;
if (takesBareJobs) {
  await queue.take("bare", {
    concurrency: 1,
    async handle() {
      say("job");
      return "done";
    },
  });
}
const drain = new AbortController();
const running = runWorker({
  host: {
    store,
    tasks,
    keeper,
    agents,
    models: [scriptedModel({ turns: [], agents: { default_worker_agent: playStarts() } })],
    limits: loopLimits({}),
    guards: [],
    places: { roots: { project: directory, write: [] }, resolvePath: (path) => path },
    canonicalTool: (name) => name,
    defaultTools: () => [],
    hasTool: () => true,
    checkModel: async () => {},
    openSession,
    report(line) {
      if (line.startsWith("→")) say("claimed", line);
      else if (line.startsWith("←")) say("ended", line);
      else process.stderr.write(`${line}\n`);
    },
  },
  cluster,
  queue,
  worker_id: "bench-worker",
  pool: POOL,
  concurrency: 1,
  version: "bench",
  drain: drain.signal,
  graceMs: 0,
});
process.on("disconnect", () => drain.abort());
say("ready");
await running;
await queue.close();
await keeper.close();
await store.close();

/** @returns {ScriptTurn[][]} */
function playStarts() {
  const update = "agent.task_update_step";
  /** @type {ScriptTurn[]} */
  const turns = [
    { calls: [{ tool: update, input: { status: "running" } }] },
    ...(waits ? [{ calls: [{ tool: WAIT_TOOL }] }] : []),
    { calls: [{ tool: update, input: { status: "completed", summary: "It is." } }] },
    { text: "Done." },
  ];
  return Array.from({ length: STARTS }, () => turns);
}

/** As the command opens it: what is sent to the session's holder is listened to from the start. @param {{ title: string }} about */
async function openSession({ title }) {
  const kept = await store.createSession({ title });
  const session = await kernel.openSession({ ...kept, policy: POLICY });
  /** @type {Set<(reason: string) => void>} */
  const listeners = new Set();
  const unlisten = cluster?.onCommand(kept.session_id, (command) => {
    if (command.kind === "abort") for (const listener of listeners) listener(command.reason);
  });
  return {
    session,
    lost: kept.lost,
    /** @param {(reason: string) => void} listener */
    onAbort(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      await session.close();
      unlisten?.();
      await kept.close();
    },
  };
}

/** @param {WorkerSaid["kind"]} kind */
function say(kind, line = "") {
  if (process.connected) process.send?.({ kind, at: machineNow(), line });
}
