// A worker in a process of its own: claims steps of one task and finishes them, one after the other, until the task has
// nothing left. Tells each claim and each end as a line of JSON. All of them have one clock, which others can move on.

import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import {
  createClaimKeeper,
  createTasks,
  TaskRefused,
  type TaskCaller,
} from "../../packages/tasks/src/index.ts";
import { openStore } from "../../packages/store/src/index.ts";
import { sharedClock } from "./shared-clock.ts";
import type { WorkerJob } from "./worker-processes.ts";

const job = JSON.parse(process.argv[2] ?? "") as WorkerJob;
const { directory, session_id, task_id, run_id } = job;
const store = await openStore({ directory, busyTimeoutMs: 60_000 });
const { lease_ms, ahead_ms = 0 } = job;
const timeOfDay = Date.now.bind(Date);
Date.now = () => timeOfDay() + ahead_ms;
const tasks = createTasks({
  storage: store.tasks(),
  ...(lease_ms === undefined ? { clock: sharedClock(directory) } : { leaseMs: lease_ms }),
});
const caller: TaskCaller = {
  actor: { kind: "worker", session_id, task_id, run_id, agent_id: "agent_1" },
};

const lines = createInterface({ input: process.stdin });
// From here on no line is missed, however late it is read.
const said = lines[Symbol.asyncIterator]();
tell({ ready: true });
await said.next();
if (lease_ms !== undefined) await holdStep();

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

/** Asks whenever it is told "try"; what it has then, it holds with heartbeats until it is told "finish". */
async function holdStep(): Promise<void> {
  const keeper = createClaimKeeper({ tasks });
  let held: { token: string; step_id: string; attempt: number } | undefined;
  keeper.watch(run_id, ({ step_id }) => tell({ lost: step_id }));
  for (;;) {
    const next = await said.next();
    if (next.done === true) break;
    const line: string = next.value;
    if (line === "try" && held === undefined) {
      const claimed = await keeper.claim(caller, { task_id, start: true });
      if (claimed.kind === "nothing_ready") tell({ nothing: true });
      else {
        const { step_id, attempts: attempt } = claimed.step;
        held = { token: claimed.claim.token, step_id, attempt };
        tell({ claimed: step_id, attempt });
      }
    } else if (line === "finish" && held !== undefined) {
      const { attempt, ...of } = held;
      try {
        const done = { status: "completed", summary: run_id } as const;
        await tasks.updateStep(caller, { task_id, ...of, ...done });
        keeper.forget({ run_id, token: of.token });
        tell({ completed: of.step_id, attempt });
      } catch (error) {
        if (!(error instanceof TaskRefused)) throw error;
        tell({ refused: of.step_id, attempt });
      }
      break;
    }
  }
  await keeper.close();
}

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
