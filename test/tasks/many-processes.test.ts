// Sixteen processes and one DAG of two thousand steps in one store, some of them killed on the way (TASK-4). Leases are
// long and time is moved by hand: a step comes free only when its worker is dead, however busy the machine is.

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createTasks,
  type NewStep,
  type StepRecord,
  type TaskCaller,
  type Tasks,
} from "../../packages/tasks/src/index.ts";
import { openStore } from "../../packages/store/src/index.ts";
import { advanceAnHour, sharedClock } from "./shared-clock.ts";
import { bundleWorkers, type WorkerProcess, type WorkerProcesses } from "./worker-processes.ts";

const PROCESSES = 16;
const STEPS = 2000;
/** Killed from outside, whatever they are doing; each is replaced. */
const KILLS = 6;
/** Done by the last of those kills, so that there is enough left to be killed in. */
const LAST_KILL = STEPS / 2;
/** Killed with a step in hand, for certain. */
const SUICIDES = 3;
const session_id = "s1";

let processes: WorkerProcesses;
beforeAll(async () => {
  processes = await bundleWorkers();
});
afterAll(() => processes.remove());

test("sixteen processes do two thousand steps of one task, each once, though some are killed", async () => {
  verifies("TASK-4");
  const directory = await processes.place();
  const store = await openStore({ directory, busyTimeoutMs: 60_000 });
  await (await store.createSession({ session_id })).close();
  const tasks = createTasks({ storage: store.tasks(), clock: sharedClock(directory) });
  const caller: TaskCaller = {
    actor: { kind: "orchestrator", session_id, run_id: "run_o", agent_id: "agent_o" },
  };
  const plan = { title: "Many", goal: "All of it.", steps: layers(STEPS) };
  const { task_id } = (await tasks.create(caller, plan)).task;

  const workers: WorkerProcess[] = [];
  for (let i = 0; i < PROCESSES; i += 1) start(i < SUICIDES ? { dies_at_claim: 5 * (i + 1) } : {});
  await Promise.all(workers.map(({ ready }) => ready));
  for (const worker of workers) worker.say("begin");
  let kills = 0;
  for (let done = 0; done < STEPS; done = await countDone()) {
    // As many as are due by now: the steps may be faster than whoever looks.
    for (; kills < KILLS && done >= ((kills + 0.5) * LAST_KILL) / KILLS; kills += 1) replaceOne();
    if (await onlyTheDeadHoldSteps(tasks, task_id, workers)) {
      advanceAnHour(directory);
      // Their steps are ready from here on: nothing is left for a second hour to take from someone alive.
      await tasks.get(caller, task_id);
    }
    // Whoever looks takes the machine from those who work.
    await delay(100);
  }
  const ends = await Promise.all(workers.map((worker) => worker.ended()));
  const steps = await tasks.reader.steps(task_id, { limit: STEPS + 1 });
  await store.close();

  const dead = new Set(workers.filter(({ end }) => end() === "SIGKILL").map((one) => one.run_id));
  expect(kills).toBeGreaterThan(0);
  expect(dead.size).toBe(kills + SUICIDES);
  for (const [i, { code, errors }] of ends.entries()) {
    if (!dead.has(`run_${i}`)) expect({ code, errors }).toEqual({ code: 0, errors: "" });
  }
  expectEachDoneOnce(steps, workers, dead);

  function start(how: { dies_at_claim?: number } = {}): WorkerProcess {
    const run_id = `run_${workers.length}`;
    const worker = processes.start({ directory, session_id, task_id, run_id, ...how });
    workers.push(worker);
    return worker;
  }

  /** The first ones end themselves. */
  function replaceOne(): void {
    const alive = workers.slice(SUICIDES).filter(({ child }) => !child.killed);
    alive[Math.floor(Math.random() * alive.length)]?.child.kill("SIGKILL");
    start().say("begin");
  }

  async function countDone(): Promise<number> {
    return (await tasks.reader.get(task_id))?.counts.completed ?? 0;
  }
}, 240_000);

/** Then no one who is alive has anything to do, and nothing changes but by the time that passes. */
async function onlyTheDeadHoldSteps(
  tasks: Tasks,
  task_id: string,
  workers: readonly WorkerProcess[],
): Promise<boolean> {
  const held = await tasks.reader.steps(task_id, { statuses: ["ready", "claimed", "running"] });
  return held.every(({ claim }) => {
    const holder = workers.find(({ run_id }) => run_id === claim?.run_id);
    return holder !== undefined && holder.end() !== undefined;
  });
}

function expectEachDoneOnce(
  steps: readonly StepRecord[],
  workers: readonly WorkerProcess[],
  dead: ReadonlySet<string>,
): void {
  const told = workers.flatMap((worker) =>
    worker.told.map((one) => ({ ...one, by: worker.run_id })),
  );
  expect(told.filter(({ refused }) => refused !== undefined)).toEqual([]);
  /** Who had which attempt: an attempt is counted in the transaction that claims. */
  const claims = new Map<string, string>();
  for (const { claimed, attempt, by } of told) {
    if (claimed === undefined) continue;
    const key = `${claimed} ${attempt}`;
    expect({ key, had: claims.get(key) }).toEqual({ key, had: undefined });
    claims.set(key, by);
  }
  const completions = told.flatMap(({ completed }) => completed ?? []);
  expect(new Set(completions).size).toBe(completions.length);

  expect(steps).toHaveLength(STEPS);
  let lost = 0;
  for (const { step_id, status, attempts, result, failure, open_dependencies } of steps) {
    expect({ step_id, status, open_dependencies }).toMatchObject({
      status: "completed",
      open_dependencies: 0,
    });
    // Whoever completed it had its last attempt, and all before that were lost with their workers.
    const by = claims.get(`${step_id} ${attempts}`);
    if (by !== undefined) expect(result?.summary).toBe(by);
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      lost += 1;
      const loser = claims.get(`${step_id} ${attempt}`) ?? failure?.run_id ?? "";
      expect({ step_id, loser: dead.has(loser) }).toEqual({ step_id, loser: true });
    }
  }
  expect(lost).toBeGreaterThanOrEqual(SUICIDES);
}

/** Forty can be worked on at a time; each step waits for two before it. */
function layers(count: number): NewStep[] {
  return Array.from({ length: count }, (_, i) => ({
    step_id: `s${i}`,
    title: `Step ${i}`,
    instructions: "Do it.",
    max_attempts: 20,
    depends_on: i < 40 ? [] : [`s${i - 40}`, `s${i - 20 - (i % 7)}`],
  }));
}
