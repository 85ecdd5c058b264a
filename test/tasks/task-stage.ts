// Tasks on a held clock, with the actors a test needs and every fact that was told.

import { createHeldClock, type HeldClock } from "@soong/core";
import {
  createMemoryTasks,
  createTasks,
  TaskRefused,
  type NewStep,
  type StepRecord,
  type TaskCaller,
  type Tasks,
  type TaskStorage,
} from "../../packages/tasks/src/index.ts";

export const SESSION = "s1";
export const LEASE_MS = 60_000;

export interface TaskStage {
  readonly tasks: Tasks;
  readonly clock: HeldClock;
  /** Types, in the order they were told. */
  readonly facts: { type: string; data: object }[];
  readonly orchestrator: TaskCaller;
  readonly worker: (run_id: string, task_id: string, step_id?: string) => TaskCaller;
  /** Steps by id, with the ids they depend on. */
  readonly create: (
    steps: Record<string, readonly string[]>,
    more?: Partial<NewStep>,
  ) => Promise<string>;
  readonly step: (task_id: string, step_id: string) => Promise<StepRecord>;
  readonly statuses: (task_id: string) => Promise<Record<string, string>>;
  /** Claims a step and brings it to `running`; answers with the way back to it. */
  readonly run: (caller: TaskCaller, task_id: string, step_id?: string) => Promise<Claim>;
}

export interface Claim {
  readonly task_id: string;
  readonly step_id: string;
  readonly token: string;
}

export function createTaskStage(storage: TaskStorage = createMemoryTasks()): TaskStage {
  const clock = createHeldClock(Date.UTC(2026, 0, 2));
  const tasks = createTasks({ storage, clock, leaseMs: LEASE_MS });
  const facts: TaskStage["facts"] = [];
  const record: TaskCaller["record"] = (type, data) => void facts.push({ type, data });
  const orchestrator: TaskCaller = {
    actor: { kind: "orchestrator", session_id: SESSION, run_id: "run_o", agent_id: "agent_o" },
    record,
  };
  const stage: TaskStage = {
    tasks,
    clock,
    facts,
    orchestrator,
    worker(run_id, task_id, step_id) {
      const ids = { session_id: SESSION, run_id, agent_id: `agent_${run_id}` };
      const given = step_id === undefined ? {} : { step_id };
      return { actor: { kind: "worker", ...ids, task_id, worker: "w1", ...given }, record };
    },
    async create(steps, more = {}) {
      const list = Object.entries(steps).map(([step_id, depends_on]) => ({
        step_id,
        title: `Do ${step_id}`,
        instructions: `All of ${step_id}.`,
        depends_on,
        ...more,
      }));
      const made = await tasks.create(orchestrator, { title: "T", goal: "G", steps: list });
      return made.task.task_id;
    },
    async step(task_id, step_id) {
      const step = await tasks.reader.step(task_id, step_id);
      if (step === undefined) throw new Error(`no step ${step_id}`);
      return step;
    },
    async statuses(task_id) {
      const steps = await tasks.reader.steps(task_id, { limit: 10_000 });
      return Object.fromEntries(steps.map(({ step_id, status }) => [step_id, status]));
    },
    async run(caller, task_id, step_id) {
      const claimed = await tasks.claim(caller, { task_id, step_id, start: true });
      if (claimed.kind !== "claimed") throw new Error("nothing was ready");
      const { token, step_id: id } = claimed.claim;
      return { task_id, step_id: id, token };
    },
  };
  return stage;
}

/** The refusal something ends in. */
export async function refusal(work: Promise<unknown>): Promise<TaskRefused> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof TaskRefused) return thrown;
  throw thrown instanceof Error ? thrown : new Error("nothing was refused");
}
