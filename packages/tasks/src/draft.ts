// A change of a task while it is planned: the rows as they were found, what has been put in their place so far, and
// the facts that are recorded once it is committed.

import type { FactData, JsonObject } from "@soong/core";
import type { MachineTime } from "@soong/platform";
import { asJson, omitUndefined } from "@soong/schema";
import type { PublicClaim, TaskFact, TaskFactType } from "./facts.ts";
import {
  type ClaimRecord,
  type StepRecord,
  type TaskRecord,
  STEP_STATUSES,
  type StepCounts,
  type StepStatus,
  type TaskStatus,
} from "./records.ts";
import type {
  FoundRows,
  PlannedChange,
  StepDefinition,
  StepState,
  StoredStep,
  StoredTask,
} from "./storage.ts";
import { mayBecome } from "./transitions.ts";

export interface Draft {
  /** Milliseconds since the epoch, the same for all of one change. */
  readonly now: number;
  readonly at: string;
  /** By the clock that the processes of this machine share; undefined: there is none. */
  readonly machineTime: MachineTime | undefined;
  /** Of new steps that say nothing of it. */
  readonly maxAttempts: number;
  readonly leaseMs: number;
  /** Whether the worker of a claim lives in this process: then its lease is renewed, however late that is. */
  isAlive(token: string): boolean;
  readonly found: FoundRows;
  readonly facts: readonly TaskFact[];
  task(): TaskRecord | undefined;
  /** Of the selected task, by position. */
  steps(): StepRecord[];
  step(step_id: string): StepRecord | undefined;
  /** Steps of other tasks, too: those a run has claimed. */
  allSteps(): StepRecord[];
  putTask(task: TaskRecord): void;
  putStep(step: StepRecord): void;
  /** With its definition: it is new, or its plan was changed. */
  putDefinedStep(step: StepRecord): void;
  removeStep(step_id: string): void;
  addFact<T extends TaskFactType>(
    type: T,
    about: { task_id: string; step_id?: string },
    data?: Omit<FactData<T>, "task_id" | "step_id">,
  ): void;
  writes(): Omit<PlannedChange<never>, "answer">;
}

interface DraftRules extends Pick<Draft, "maxAttempts" | "leaseMs" | "isAlive"> {
  machineTime(): MachineTime | undefined;
}

export function createDraft(found: FoundRows, now: number, rules: DraftRules): Draft {
  const at = new Date(now).toISOString();
  let task = found.task === undefined ? undefined : toTaskRecord(found.task);
  let taskChanged = false;
  const steps = new Map(found.steps.map((row) => [stepKey(row), toStepRecord(row)]));
  const changed = new Set<string>();
  const redefined = new Set<string>();
  const removed = new Set<string>();
  const facts: TaskFact[] = [];

  return {
    ...rules,
    machineTime: rules.machineTime(),
    now,
    at,
    found,
    facts,
    task: () => task,
    steps: () => listTaskSteps(),
    step: (step_id) =>
      task === undefined ? undefined : steps.get(stepKey({ task_id: task.task_id, step_id })),
    allSteps: () => [...steps.values()],
    putTask(next) {
      task = next;
      taskChanged = true;
    },
    putStep,
    putDefinedStep(step) {
      putStep(step);
      redefined.add(stepKey(step));
      removed.delete(step.step_id);
    },
    removeStep(step_id) {
      if (task === undefined) return;
      const key = stepKey({ task_id: task.task_id, step_id });
      steps.delete(key);
      changed.delete(key);
      removed.add(step_id);
    },
    addFact(type, { task_id, step_id }, data) {
      const about = step_id === undefined ? { task_id } : { task_id, step_id };
      facts.push({ type, data: { ...about, ...data } } as TaskFact);
    },
    writes() {
      const written = [...changed].flatMap((key) => {
        const step = steps.get(key);
        if (step === undefined) return [];
        return redefined.has(key)
          ? [{ ...toStepState(step), definition: toStepDefinition(step) }]
          : [toStepState(step)];
      });
      return {
        ...(taskChanged && task !== undefined ? { task: toTaskRow(task) } : {}),
        ...(written.length > 0 ? { steps: written } : {}),
        ...(removed.size > 0 ? { removed_steps: [...removed] } : {}),
      };
    },
  };

  function putStep(step: StepRecord): void {
    const from = steps.get(stepKey(step))?.status ?? step.status;
    if (from !== step.status && !mayBecome(from, step.status)) {
      throw new Error(`a step was about to go from ${from} to ${step.status}`);
    }
    steps.set(stepKey(step), { ...step, updated_at: at });
    changed.add(stepKey(step));
  }

  function listTaskSteps(): StepRecord[] {
    return [...steps.values()]
      .filter(({ task_id }) => task_id === task?.task_id)
      .toSorted((a, b) => a.position - b.position);
  }
}

/** Neither id has a slash in it. */
function stepKey({ task_id, step_id }: Pick<StepRecord, "task_id" | "step_id">): string {
  return `${task_id}/${step_id}`;
}

export function describeClaim({ token: _token, ...claim }: ClaimRecord): PublicClaim {
  return claim;
}

/** The step without the claim it had. */
export function withoutClaim(step: StepRecord): StepRecord {
  const { claim, ...rest } = step;
  return claim === undefined ? rest : { ...rest, last_run_id: claim.run_id };
}

const FACT_TEXT_CHARS = 500;

/** A text of a record, cut for a fact: the record has all of it. Cut between words: half a secret is not recognised (REDACT-1). */
export function shortenForFact(text: string): string {
  if (text.length <= FACT_TEXT_CHARS) return text;
  return `${text
    .slice(0, FACT_TEXT_CHARS + 1)
    .replace(/\S*$/, "")
    .trimEnd()}…`;
}

// Records as the rows a storage keeps, and back.

export function toTaskRecord(row: StoredTask): TaskRecord {
  const { content, status, ...columns } = row;
  return {
    ...readStored("task", content),
    ...columns,
    status: status as TaskStatus,
  };
}

function toTaskRow(task: TaskRecord): StoredTask {
  const { task_id, session_id, status, created_at, updated_at, ...content } = task;
  return {
    task_id,
    session_id,
    status,
    created_at,
    updated_at,
    content: asJson(omitUndefined(content)),
  };
}

interface StoredClaim extends Omit<ClaimRecord, "run_id" | "lease_expires_at"> {}

export function toStepRecord(row: StoredStep): StepRecord {
  const { task_id, step_id, position, status, open_dependencies, run_id, lease_expires_at } = row;
  const { claim, ...state } = readStored("state", row.state);
  const definition = readStored("definition", row.definition.content);
  return {
    task_id,
    step_id,
    ...definition,
    depends_on: row.definition.depends_on,
    position,
    status: status as StepStatus,
    open_dependencies,
    ...state,
    ...(claim === undefined || run_id === undefined || lease_expires_at === undefined
      ? {}
      : {
          claim: { ...claim, run_id, lease_expires_at: new Date(lease_expires_at).toISOString() },
        }),
  };
}

function toStepState(step: StepRecord): StepState {
  const { task_id, step_id, position, status, open_dependencies, claim, ...rest } = step;
  const { title: _title, instructions: _instructions, expected_output: _output, ...state } = rest;
  const { depends_on: _dependencies, ...kept } = state;
  if (claim === undefined) {
    return {
      task_id,
      step_id,
      position,
      status,
      open_dependencies,
      state: asJson(omitUndefined(kept)),
    };
  }
  const { run_id, lease_expires_at, ...storedClaim } = claim;
  return {
    task_id,
    step_id,
    position,
    status,
    open_dependencies,
    run_id,
    lease_expires_at: Date.parse(lease_expires_at),
    state: asJson(omitUndefined({ ...kept, claim: storedClaim })),
  };
}

function toStepDefinition(step: StepRecord): StepDefinition {
  const { title, instructions, expected_output, depends_on } = step;
  return { depends_on, content: asJson(omitUndefined({ title, instructions, expected_output })) };
}

export function toStepCounts(found: Readonly<Record<string, number>> | undefined): StepCounts {
  const counts = STEP_STATUSES.map((status) => [status, found?.[status] ?? 0] as const);
  return Object.fromEntries(counts) as StepCounts;
}

interface StoredContents {
  task: Omit<TaskRecord, keyof StoredTask>;
  state: Pick<StepRecord, "attempts" | "max_attempts" | "updated_at"> & { claim?: StoredClaim };
  definition: Pick<StepRecord, "title" | "instructions" | "expected_output">;
}

function readStored<Kind extends keyof StoredContents>(
  _kind: Kind,
  content: JsonObject,
): StoredContents[Kind] {
  // Rows are written by the functions of this file alone, from records of these types.
  return content as unknown as StoredContents[Kind];
}
