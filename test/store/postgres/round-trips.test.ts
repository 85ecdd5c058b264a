// How often a process waits for PostgreSQL, counted: what takes milliseconds on one machine takes as many round trips on all.

import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createTasks, type Tasks } from "../../../packages/tasks/src/index.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { storeAt } from "./postgres-stage.ts";

const of = { session_id: "s1", agent_id: "agent_1" };

test("a claim waits for the database twice, and so does all that happens to it", async () => {
  verifies("DIST-1", "TASK-4");
  const tasks = await openTasks();
  const { task_id } = await createTask(tasks, 3);
  const trips = countRoundTrips();
  const caller = { actor: { kind: "worker", run_id: "run_1", task_id, ...of } } as const;
  const claimed = await tasks.claim(caller, { task_id, start: true });
  expect(trips.take()).toBe(2);
  if (claimed.kind !== "claimed") throw new Error("nothing was ready");
  await tasks.renew(claimed.claim);
  expect(trips.take()).toBe(2);
  const { step_id } = claimed.step;
  const done = { task_id, step_id, status: "completed", summary: "It is." } as const;
  await tasks.updateStep(caller, { ...done, token: claimed.claim.token });
  expect(trips.take()).toBe(2);
});

test("a task of many steps is created in as many round trips as one of a few", async () => {
  verifies("DIST-1");
  const tasks = await openTasks();
  const trips = countRoundTrips();
  await createTask(tasks, 2);
  const few = trips.take();
  await createTask(tasks, 200);
  expect(trips.take()).toBe(few);
});

async function openTasks(): Promise<Tasks> {
  const store = await storeAt(await usePostgres());
  await store.createSession({ session_id: "s1" });
  return createTasks({ storage: store.tasks() });
}

async function createTask(tasks: Tasks, count: number): Promise<{ task_id: string }> {
  const steps = Array.from({ length: count }, (_, i) => ({
    step_id: `step_${i}`,
    title: `Do ${i}`,
    instructions: `All of ${i}.`,
    depends_on: i === 0 ? [] : ["step_0"],
  }));
  const actor = { kind: "orchestrator", run_id: "run_o", ...of } as const;
  const { task } = await tasks.create({ actor }, { title: "T", goal: "G", steps });
  return task;
}

/** What the store sends on its own, when it has time: wake-ups, and the settings of a new connection. */
const BACKGROUND = /pg_notify|set_config/;

/** A statement that is sent while its connection waits for no other begins one. */
function countRoundTrips(): { take(): number } {
  const waiting = new Map<object, number>();
  let count = 0;
  const { prototype } = pg.Client as { prototype: { query: Query } };
  const { query } = prototype;
  onTestFinished(() => {
    prototype.query = query;
  });
  prototype.query = async function queryCounted(this: object, ...given) {
    if (BACKGROUND.test(JSON.stringify(given[0]))) return query.apply(this, given);
    const ahead = waiting.get(this) ?? 0;
    if (ahead === 0) count += 1;
    waiting.set(this, ahead + 1);
    try {
      return await query.apply(this, given);
    } finally {
      waiting.set(this, (waiting.get(this) ?? 1) - 1);
    }
  };
  return {
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

type Query = (this: object, ...given: unknown[]) => Promise<unknown>;
