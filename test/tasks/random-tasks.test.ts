// Random histories of a task against a naive model of who holds what, and what must be true of every plan at any time.

import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  TaskRefused,
  type StepRecord,
  type StepStatus,
  type TaskOperation,
} from "../../packages/tasks/src/index.ts";
import { createTaskStage, LEASE_MS, type TaskStage } from "./task-stage.ts";

const RUNS = process.env.SOONG_TEST_FULL === "1" ? 3000 : 60;

const NEXT: Record<StepStatus, StepStatus[]> = {
  pending: ["ready", "cancelled"],
  ready: ["pending", "claimed", "running", "cancelled"],
  claimed: ["running", "ready", "failed", "cancelled"],
  running: ["completed", "failed", "blocked", "ready", "cancelled"],
  blocked: ["ready", "pending", "cancelled"],
  failed: ["ready", "pending", "cancelled"],
  completed: [],
  cancelled: [],
};

const stepId = fc.integer({ min: 0, max: 7 }).map((n) => `s${n}`);
const runId = fc.integer({ min: 1, max: 4 }).map((n) => `run_${n}`);
const depends_on = fc.uniqueArray(stepId, { maxLength: 3 });
const text = { title: "T", instructions: "I" };

const operation: fc.Arbitrary<TaskOperation> = fc.oneof(
  fc
    .record({ step_id: stepId, depends_on })
    .map((one) => ({ op: "add_step", ...text, ...one }) as const),
  stepId.map((step_id) => ({ op: "remove_step", step_id }) as const),
  fc
    .record({ step_id: stepId, depends_on })
    .map((one) => ({ op: "add_dependency", ...one }) as const),
  fc
    .record({ step_id: stepId, depends_on })
    .map((one) => ({ op: "remove_dependency", ...one }) as const),
  fc
    .uniqueArray(stepId, { minLength: 1, maxLength: 4 })
    .map((step_ids) => ({ op: "reorder", step_ids }) as const),
  stepId.map((step_id) => ({ op: "cancel_step", step_id, reason: "r" }) as const),
  stepId.map((step_id) => ({ op: "retry_step", step_id }) as const),
  stepId.map((step_id) => ({ op: "unblock_step", step_id }) as const),
);

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      run_id: runId,
      step_id: fc.option(stepId, { nil: undefined }),
      start: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("report" as const),
      run_id: runId,
      status: fc.constantFrom(
        ...(["running", "completed", "completed", "failed", "blocked"] as const),
      ),
      /** Under an older claim of the run, if it had one. */
      stale: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      ms: fc.constantFrom(1000, LEASE_MS / 2, LEASE_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("renew" as const), run_id: runId }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("release" as const),
      run_id: runId,
      how: fc.constantFrom("ended", "aborted"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("judge" as const),
      step_id: stepId,
      status: fc.constantFrom("ready", "cancelled", "completed", "failed"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
    }),
  },
);

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** What someone outside would believe: who was given what, under which token, until when. */
interface Belief {
  readonly step_id: string;
  readonly token: string;
  until: number;
}

test("a task stays a DAG under any operations, with one holder a step, and only what may begin is ready", async () => {
  verifies("TASK-2", "TASK-3", "TASK-4");
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 60 }), async (commands) => {
      const stage = createTaskStage();
      const task_id = await stage.create({ s0: [], s1: ["s0"], s2: ["s0"], s3: ["s1", "s2"] });
      const held = new Map<string, Belief>();
      const old = new Map<string, Belief>();
      let before = await stepsOf(stage, task_id);
      for (const one of commands) {
        const refused = await carryOut(stage, task_id, one, held, old);
        const after = await stepsOf(stage, task_id);
        expectSound(after);
        expectLegal(before, after, one);
        if (refused !== undefined) expectNothingButLosses(before, after, refused);
        // What the store says of claims is what was believed, and nothing more.
        for (const step of after.values()) {
          if (step.claim === undefined) continue;
          const belief = held.get(step.claim.run_id);
          expect({ step_id: belief?.step_id, token: belief?.token }).toEqual({
            step_id: step.step_id,
            token: step.claim.token,
          });
        }
        before = after;
      }
    }),
    { numRuns: RUNS },
  );
});

async function carryOut(
  stage: TaskStage,
  task_id: string,
  one: Command,
  held: Map<string, Belief>,
  old: Map<string, Belief>,
): Promise<TaskRefused | undefined> {
  const { tasks, orchestrator, clock } = stage;
  try {
    switch (one.do) {
      case "wait":
        await clock.advance(one.ms);
        await tasks.get(orchestrator, task_id);
        return undefined;
      case "claim": {
        const caller = stage.worker(one.run_id, task_id);
        const { step_id, start } = one;
        const claimed = await tasks.claim(caller, { task_id, step_id, start });
        if (claimed.kind === "nothing_ready") return undefined;
        // No one believed to hold it, and this run nothing else.
        const others = [...held.values()].filter((other) => other.step_id === claimed.step.step_id);
        for (const other of others) expect(await isHeld(stage, task_id, other)).toBe(false);
        const before = held.get(one.run_id);
        if (before !== undefined) old.set(one.run_id, before);
        const { token } = claimed.claim;
        held.set(one.run_id, {
          step_id: claimed.step.step_id,
          token,
          until: clock.now() + LEASE_MS,
        });
        return undefined;
      }
      case "report": {
        const belief = (one.stale ? old : held).get(one.run_id);
        if (belief === undefined) return undefined;
        const { step_id, token } = belief;
        const wasHeld = (await isHeld(stage, task_id, belief)) && clock.now() < belief.until;
        const caller = stage.worker(one.run_id, task_id);
        const update = { task_id, step_id, token, status: one.status, summary: "s", reason: "r" };
        await tasks.updateStep(caller, update);
        expect(wasHeld).toBe(true);
        return undefined;
      }
      case "renew": {
        const belief = held.get(one.run_id);
        if (belief === undefined) return undefined;
        await tasks.renew({ task_id, ...belief, run_id: one.run_id });
        expect(clock.now()).toBeLessThan(belief.until);
        belief.until = clock.now() + LEASE_MS;
        return undefined;
      }
      case "release": {
        const belief = held.get(one.run_id);
        if (belief !== undefined) {
          await tasks.release({ task_id, ...belief, run_id: one.run_id }, one.how);
        }
        return undefined;
      }
      case "judge": {
        const { step_id, status } = one;
        const update = { task_id, step_id, status, summary: "s", reason: "r" };
        await tasks.updateStep(orchestrator, update);
        return undefined;
      }
      case "update":
        await tasks.update(orchestrator, { task_id, operations: one.operations });
        return undefined;
    }
  } catch (error) {
    if (error instanceof TaskRefused) return error;
    throw error;
  }
}

async function isHeld(stage: TaskStage, task_id: string, belief: Belief): Promise<boolean> {
  const step = await stage.tasks.reader.step(task_id, belief.step_id);
  return step?.claim?.token === belief.token;
}

function expectSound(steps: ReadonlyMap<string, StepRecord>): void {
  const runs = new Set<string>();
  for (const {
    step_id,
    status,
    depends_on: needs,
    open_dependencies,
    claim,
    attempts,
    max_attempts,
  } of steps.values()) {
    const open = needs.filter((id) => steps.get(id)?.status !== "completed");
    expect({ step_id, open: open_dependencies }).toEqual({ step_id, open: open.length });
    if (status === "pending" || status === "ready") {
      expect({ step_id, status }).toEqual({
        step_id,
        status: open.length === 0 ? "ready" : "pending",
      });
    }
    if (status === "ready") expect(attempts).toBeLessThan(max_attempts);
    expect(claim !== undefined).toBe(status === "claimed" || status === "running");
    if (claim !== undefined) {
      expect(runs.has(claim.run_id)).toBe(false);
      runs.add(claim.run_id);
    }
    for (const id of needs) expect(steps.has(id)).toBe(true);
    expect(reaches(steps, step_id, needs, new Set())).toBe(false);
  }
  const positions = [...steps.values()].map(({ position }) => position);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
}

function reaches(
  steps: ReadonlyMap<string, StepRecord>,
  goal: string,
  from: readonly string[],
  seen: Set<string>,
): boolean {
  return from.some((id) => {
    if (id === goal) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return reaches(steps, goal, steps.get(id)?.depends_on ?? [], seen);
  });
}

/** Along the arrows: for most commands one at a time; an update or a look may take several. */
function expectLegal(
  before: ReadonlyMap<string, StepRecord>,
  after: ReadonlyMap<string, StepRecord>,
  one: Command,
): void {
  for (const { step_id, status: to } of after.values()) {
    const from = before.get(step_id)?.status;
    if (from === undefined || from === to) continue;
    const reachable = new Set(NEXT[from]);
    const isLong = one.do === "update" || one.do === "claim" || one.do === "judge";
    if (isLong) for (const via of NEXT[from]) for (const next of NEXT[via]) reachable.add(next);
    const isNew = one.do === "update" && one.operations.some(({ op }) => op === "remove_step");
    if (!isNew)
      expect({ step_id, from, to, legal: reachable.has(to) }).toMatchObject({ legal: true });
  }
}

/** A refusal leaves everything as it was, except that leases were found to have run out. */
function expectNothingButLosses(
  before: ReadonlyMap<string, StepRecord>,
  after: ReadonlyMap<string, StepRecord>,
  refused: TaskRefused,
): void {
  expect([...after.keys()]).toEqual([...before.keys()]);
  for (const step of after.values()) {
    const was = before.get(step.step_id);
    if (was?.claim !== undefined && step.claim === undefined) {
      expect({ refused: refused.code, failure: step.failure?.code }).toMatchObject({
        failure: "lease_lost",
      });
    } else expect(step).toEqual(was);
  }
}

async function stepsOf(stage: TaskStage, task_id: string): Promise<Map<string, StepRecord>> {
  const steps = await stage.tasks.reader.steps(task_id, { limit: 100 });
  return new Map(steps.map((step) => [step.step_id, step]));
}
