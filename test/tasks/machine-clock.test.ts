// TASK-4 across processes of one machine: a lease is judged by a clock that they share and no one can set.

import { verifies } from "#laws";
import { createTasks, type TaskCaller } from "../../packages/tasks/src/index.ts";
import { openStore } from "../../packages/store/src/index.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { machineTime } from "../../packages/platform/src/index.ts";
import {
  bundleWorkers,
  type Told,
  type WorkerJob,
  type WorkerProcess,
  type WorkerProcesses,
} from "./worker-processes.ts";

const DAY_MS = 86_400_000;
const session_id = "ses_1";
const WAIT = { timeout: 60_000, interval: 20 };
let processes: WorkerProcesses;

beforeAll(async () => {
  processes = await bundleWorkers();
});
afterAll(() => processes.remove());

async function openTask() {
  const directory = await processes.place();
  const store = await openStore({ directory, busyTimeoutMs: 60_000 });
  await (await store.createSession({ session_id })).close();
  const tasks = createTasks({ storage: store.tasks() });
  const caller: TaskCaller = {
    actor: { kind: "orchestrator", session_id, run_id: "run_o", agent_id: "agent_o" },
  };
  const steps = [{ step_id: "a", title: "A", instructions: "Do it." }];
  const { task_id } = (await tasks.create(caller, { title: "One", goal: "It.", steps })).task;
  const start = async (run_id: string, how: Partial<WorkerJob>): Promise<WorkerProcess> => {
    const worker = processes.start({ directory, session_id, task_id, run_id, ...how });
    await worker.ready;
    worker.say("begin");
    return worker;
  };
  return { store, start, step: async () => (await tasks.reader.steps(task_id))[0] };
}

function told(worker: WorkerProcess, what: Partial<Told>): Promise<void> {
  return vi.waitFor(() => expect(worker.told).toContainEqual(expect.objectContaining(what)), WAIT);
}

describe.skipIf(machineTime() === undefined)("a lease (needs Linux)", () => {
  test("is not taken over by a process whose time of day is a day ahead", async () => {
    verifies("TASK-4");
    const { store, start, step } = await openTask();
    const holder = await start("run_a", { lease_ms: 60_000 });
    holder.say("try");
    await told(holder, { claimed: "a" });
    const ahead = await start("run_b", { lease_ms: 60_000, ahead_ms: DAY_MS });
    ahead.say("try");
    await told(ahead, { nothing: true });
    holder.say("finish");
    await told(holder, { completed: "a", attempt: 1 });
    expect(await step()).toMatchObject({ status: "completed", attempts: 1 });
    ahead.child.kill("SIGKILL");
    await store.close();
  });

  test("of a process that was stopped ends, and it learns of that and does not finish the step again", async () => {
    verifies("TASK-4");
    const { store, start, step } = await openTask();
    const stopped = await start("run_a", { lease_ms: 300 });
    stopped.say("try");
    await told(stopped, { claimed: "a" });
    stopped.child.kill("SIGSTOP");
    const other = await start("run_b", { lease_ms: 60_000 });
    await vi.waitFor(() => {
      other.say("try");
      expect(other.told).toContainEqual({ claimed: "a", attempt: 2 });
    }, WAIT);
    stopped.child.kill("SIGCONT");
    await told(stopped, { lost: "a" });
    stopped.say("finish");
    await told(stopped, { refused: "a", attempt: 1 });
    other.say("finish");
    await told(other, { completed: "a", attempt: 2 });
    expect(await step()).toMatchObject({ status: "completed", last_run_id: "run_b" });
    await store.close();
  });
});
