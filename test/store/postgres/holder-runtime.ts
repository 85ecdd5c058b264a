// A process with a store on PostgreSQL: `node holder-runtime.mjs JOB` does one job and reports it in lines of JSON. "stop" on its
// standard input ends it in order; "go" begins what waits for it.

import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { kernelOn } from "../../../packages/store/conformance/kernel-run.ts";
import {
  openStore,
  type OpenSession,
  type Store,
  type StoreError,
} from "../../../packages/store/src/index.ts";
import {
  createTasks,
  TaskRefused,
  type TaskCaller,
  type Tasks,
} from "../../../packages/tasks/src/index.ts";
import type { HolderJob } from "./holder-processes.ts";

const job = JSON.parse(process.argv[2] ?? "") as HolderJob;
const { directory, url, session_id = "s1", ahead_ms = 0 } = job;
const timeOfDay = Date.now.bind(Date);
Date.now = () => timeOfDay() + ahead_ms;

const stop = new AbortController();
let go = (): void => {};
const begun = new Promise<void>((resolve) => {
  go = resolve;
});
const lines = createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "go") go();
  else stop.abort();
});

const jobs: Readonly<Record<HolderJob["deed"], () => Promise<void>>> = { open, call, claim };

try {
  await jobs[job.deed]();
} catch (error) {
  const { code, message } = error as StoreError;
  report({ error: code ?? "none", message });
}
lines.close();
process.stdin.destroy();

/** Opens the store with the others who do at the same moment. */
async function open(): Promise<void> {
  report({ ready: true });
  await begun;
  const store = await openHere();
  report({ sessions: (await store.sessions()).length });
  await store.close();
}

/** One call after the other on a session, each reported once it is on record. */
async function call(): Promise<void> {
  const store = await openHere();
  const session = await takeSession(store);
  session.lost.addEventListener("abort", () => report({ lost: true }));
  const { startRun } = await kernelOn(session);
  const run = await startRun();
  report({ holds: run.identity.run_id, recovered: session.recovered });
  while (!stop.signal.aborted) {
    const { status, tool_call_id, error } = await run.call("demo.write", {});
    await run.recorder.flush();
    report({ status, tool_call_id, seq: run.recorder.lastSeq, code: error?.code });
    if (job.pause_ms !== undefined) await delay(job.pause_ms);
  }
  run.end("completed");
  await store.close();
  report({ closed: true });
}

/** Claims and finishes steps of one task after the other until none is left. */
async function claim(): Promise<void> {
  const store = await openHere();
  const { task_ids = [], lease_ms } = job;
  const tasks = createTasks({
    storage: store.tasks(),
    ...(lease_ms !== undefined && { leaseMs: lease_ms }),
  });
  report({ ready: true });
  await begun;
  for (const task_id of task_ids) await claimSteps(tasks, task_id);
  report({ nothing: true });
  await store.close();
}

async function claimSteps(tasks: Tasks, task_id: string): Promise<void> {
  const { run_id = "" } = job;
  const caller: TaskCaller = {
    actor: { kind: "worker", session_id, task_id, run_id, agent_id: "agent_1" },
  };
  for (;;) {
    const claimed = await tasks.claim(caller, { task_id, start: true });
    if (claimed.kind === "nothing_ready") break;
    const { step_id } = claimed.step;
    report({ claimed: `${task_id}/${step_id}` });
    if (job.holds === true) await delay(2 ** 30);
    try {
      const { token } = claimed.claim;
      const done = { status: "completed", summary: run_id } as const;
      await tasks.updateStep(caller, { task_id, step_id, token, ...done });
      report({ completed: step_id });
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error;
      report({ refused: step_id });
    }
  }
}

function openHere(): Promise<Store> {
  const { lease_ms, busy_ms = 30_000 } = job;
  return openStore({
    directory,
    url,
    busyTimeoutMs: busy_ms,
    ...(lease_ms !== undefined && { leaseMs: lease_ms }),
  });
}

async function takeSession(store: Store): Promise<OpenSession> {
  for (;;) {
    try {
      return await store.openSession(session_id);
    } catch (error) {
      const { code } = error as StoreError;
      if (code === "session_unknown") return store.createSession({ session_id });
      if (code !== "session_in_use" || stop.signal.aborted) throw error;
      await delay(20);
    }
  }
}

function report(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
