// A change of a task while it is planned: the rows as they were found, what has been put in their place so far, and
// the facts that are recorded once it is committed. And records as the rows a storage keeps, and back.

import type { FactData, JsonObject } from "@soong/core";
import type { MachineTime } from "@soong/platform";
import { asJson, isJsonObject, omitUndefined } from "@soong/schema";
import type { PublicClaim, TaskFact, TaskFactType } from "./facts.ts";
import {
  STEP_STATUSES,
  type ClaimRecord,
  type StepCounts,
  type StepRecord,
  type StepStatus,
  type TaskRecord,
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

export type Draft = ReturnType<typeof createDraft>;

export interface DraftRules {
  /** Of new steps that say nothing of it. */
  readonly maxAttempts: number;
  readonly leaseMs: number;
  /** Whether the worker of a claim lives in this process: then its lease is renewed, however late that is. */
  isAlive(token: string): boolean;
  /** By the clock that the processes of this machine share; undefined: there is none. */
  machineTime(): MachineTime | undefined;
}

/** `now`: milliseconds since the epoch, the same for all of one change. */
export function createDraft(found: FoundRows, now: number, rules: DraftRules) {
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
    machineTime: found.now === undefined ? rules.machineTime() : undefined,
    now,
    at,
    found,
    facts,
    task: () => task,
    /** Of the selected task, by position. */
    steps: (): StepRecord[] =>
      [...steps.values()]
        .filter(({ task_id }) => task_id === task?.task_id)
        .toSorted((a, b) => a.position - b.position),
    step: (step_id: string) => (task === undefined ? undefined : steps.get(ownKey(step_id))),
    /** Steps of other tasks, too: those a run has claimed. */
    allSteps: (): StepRecord[] => [...steps.values()],
    putTask(next: TaskRecord): void {
      task = next;
      taskChanged = true;
    },
    putStep,
    /** With its definition: it is new, or its plan was changed. */
    putDefinedStep(step: StepRecord): void {
      putStep(step);
      redefined.add(stepKey(step));
      removed.delete(step.step_id);
    },
    removeStep(step_id: string): void {
      steps.delete(ownKey(step_id));
      changed.delete(ownKey(step_id));
      removed.add(step_id);
    },
    addFact<T extends TaskFactType>(
      type: T,
      { task_id, step_id }: { task_id: string; step_id?: string },
      data?: Omit<FactData<T>, "task_id" | "step_id">,
    ): void {
      const about = step_id === undefined ? { task_id } : { task_id, step_id };
      facts.push({ type, data: { ...about, ...data } } as TaskFact);
    },
    writes(): Omit<PlannedChange<never>, "answer"> {
      const written = [...changed].flatMap((key) => {
        const step = steps.get(key);
        if (step === undefined) return [];
        const definition = redefined.has(key) && { definition: toStepDefinition(step) };
        return [{ ...toStepState(step), ...definition }];
      });
      return {
        ...(taskChanged && task !== undefined && { task: toTaskRow(task) }),
        ...(written.length > 0 && { steps: written }),
        ...(removed.size > 0 && { removed_steps: [...removed] }),
      };
    },
  };

  function ownKey(step_id: string): string {
    return stepKey({ task_id: task?.task_id ?? "", step_id });
  }

  /** As it is kept. */
  function putStep(step: StepRecord): StepRecord {
    const from = steps.get(stepKey(step))?.status ?? step.status;
    if (from !== step.status && !mayBecome(from, step.status)) {
      throw new Error(`a step was about to go from ${from} to ${step.status}`);
    }
    const kept = { ...step, updated_at: at };
    steps.set(stepKey(step), kept);
    changed.add(stepKey(step));
    return kept;
  }
}

/** Neither id has a slash in it. */
function stepKey({ task_id, step_id }: Pick<StepRecord, "task_id" | "step_id">): string {
  return `${task_id}/${step_id}`;
}

/** Who holds it, for a fact or a model: never the token. */
export function describeClaim({ token: _token, ...claim }: ClaimRecord): PublicClaim {
  return claim;
}

/** The same as a member, where there is a claim. */
export function readClaim({ claim }: StepRecord): { claim?: PublicClaim } {
  return claim === undefined ? {} : { claim: describeClaim(claim) };
}

/** The step without the claim it had. */
export function withoutClaim(step: StepRecord): StepRecord {
  const { claim, ...rest } = step;
  if (claim === undefined) return rest;
  const { run_id: last_run_id, worker: last_worker } = claim;
  return { ...rest, last_run_id, ...(last_worker !== undefined && { last_worker }) };
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

export function toTaskRecord(row: StoredTask): TaskRecord {
  const { content, status, ...columns } = row;
  return { ...readStored("task", content), ...columns, status: status as TaskStatus };
}

export function toTaskRow(task: TaskRecord): StoredTask {
  const { task_id, session_id, status, created_at, updated_at, ...rest } = task;
  const content = asJson(omitUndefined(rest));
  return { task_id, session_id, status, created_at, updated_at, content };
}

export function toStepRecord(row: StoredStep): StepRecord {
  const { task_id, step_id, position, status, open_dependencies, run_id, lease_expires_at } = row;
  const { claim, ...state } = readStored("state", row.state);
  const isHeld = claim !== undefined && run_id !== undefined && lease_expires_at !== undefined;
  return {
    task_id,
    step_id,
    ...readStored("definition", row.definition.content),
    depends_on: row.definition.depends_on,
    position,
    status: status as StepStatus,
    open_dependencies,
    ...state,
    ...(isHeld && {
      claim: { ...claim, run_id, lease_expires_at: toDate(lease_expires_at).toISOString() },
    }),
  };
}

export function toStepState(step: StepRecord): StepState {
  const { task_id, step_id, position, status, open_dependencies, claim, ...rest } = step;
  const { title: _title, instructions: _instructions, expected_output: _output, ...state } = rest;
  const { depends_on: _dependencies, ...kept } = state;
  const columns = { task_id, step_id, position, status, open_dependencies };
  if (claim === undefined) return { ...columns, state: asJson(omitUndefined(kept)) };
  const { run_id, lease_expires_at, ...storedClaim } = claim;
  return {
    ...columns,
    run_id,
    lease_expires_at: Date.parse(lease_expires_at),
    state: asJson(omitUndefined({ ...kept, claim: storedClaim })),
  };
}

export function toStepDefinition(step: StepRecord): StepDefinition {
  const { title, instructions, expected_output, depends_on } = step;
  return { depends_on, content: asJson(omitUndefined({ title, instructions, expected_output })) };
}

export function toStepCounts(found: Readonly<Record<string, number>> | undefined): StepCounts {
  const counts = STEP_STATUSES.map((status) => [status, found?.[status] ?? 0] as const);
  return Object.fromEntries(counts) as StepCounts;
}

/** Texts that are shown. A row that was changed by hand may have something else there. */
const SHOWN: Readonly<Record<keyof StoredContents, readonly string[]>> = {
  task: ["title", "goal"],
  state: ["updated_at"],
  definition: ["title", "instructions"],
};

interface StoredContents {
  task: Omit<TaskRecord, keyof StoredTask>;
  state: Pick<StepRecord, "attempts" | "max_attempts" | "updated_at"> & {
    claim?: Omit<ClaimRecord, "run_id" | "lease_expires_at">;
  };
  definition: Pick<StepRecord, "title" | "instructions" | "expected_output">;
}

function readStored<Kind extends keyof StoredContents>(
  kind: Kind,
  content: JsonObject,
): StoredContents[Kind] {
  // Rows are written by the functions of this file alone, from records of these types.
  const wrong = SHOWN[kind].filter((name) => typeof content[name] !== "string");
  const texts = Object.fromEntries(wrong.map((name) => [name, "(cannot be read)"]));
  const parts = kind === "state" ? readParts(content) : {};
  return omitUndefined({ ...content, ...texts, ...parts }) as unknown as StoredContents[Kind];
}

function readParts({ claim, earlier }: JsonObject) {
  return {
    claim: isJsonObject(claim) ? claim : undefined,
    earlier: Array.isArray(earlier) ? earlier.filter(isJsonObject) : undefined,
  };
}

/** What was changed by hand may be no date: then the last one there can be, or the first. */
function toDate(ms: number): Date {
  return new Date(Number.isFinite(ms) ? Math.max(0, Math.min(ms, 8.64e15)) : 0);
}
