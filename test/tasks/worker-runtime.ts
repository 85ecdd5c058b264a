// A worker in a process of its own: claims steps of one task and finishes them, one after the other, until the task has
// nothing left. Tells each claim and each end as a line of JSON. All of them have one clock, which others can move on.

import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { createTasks, TaskRefused, type TaskCaller } from "../../packages/agent/src/task/index.ts";
import { openStore } from "../../packages/store/src/index.ts";
import { sharedClock } from "./shared-clock.ts";
import type { WorkerJob } from "./worker-processes.ts";

const job = JSON.parse(process.argv[2] ?? "") as WorkerJob;
const { directory, session_id, task_id, run_id } = job;
const store = await openStore({ directory, busyTimeoutMs: 60_000 });
const tasks = createTasks({ storage: store.tasks(), clock: sharedClock(directory) });
const caller: TaskCaller = {
  actor: { kind: "worker", session_id, task_id, run_id, agent_id: "agent_1" },
};

const lines = createInterface({ input: process.stdin });
const begin = once(lines, "line");
tell({ ready: true });
await begin;

for (let claims = 1; ;) {
  const claimed = await tasks.claim(caller, { task_id, start: true });
  if (claimed.kind === "nothing_ready") {
    const { counts } = await tasks.get(caller, task_id);
    if (counts.ready + counts.pending + counts.claimed + counts.running === 0) break;
    await delay(10);
    continue;
  }
  const { step_id, attempts: attempt } = claimed.step;
  const { token } = claimed.claim;
  tell({ claimed: step_id, attempt });
  if (claims === job.dies_at_claim) process.kill(process.pid, "SIGKILL");
  claims += 1;
  try {
    const done = { status: "completed", summary: run_id } as const;
    await tasks.updateStep(caller, { task_id, step_id, token, ...done });
    tell({ completed: step_id, attempt });
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error;
    tell({ refused: step_id, attempt });
  }
}
await store.close();
lines.close();
process.stdin.destroy();

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
