// Records as the rows a storage keeps, and back.

import type { JsonObject } from "@soong/core";
import type {
  ClaimRecord,
  StepCounts,
  StepRecord,
  StepStatus,
  TaskRecord,
  TaskStatus,
} from "./records.ts";
import { STEP_STATUSES } from "./records.ts";
import type { StepDefinition, StepState, StoredStep, StoredTask } from "./storage.ts";

export function taskOf(row: StoredTask): TaskRecord {
  const { content, status, ...columns } = row;
  return {
    ...(content as unknown as Omit<TaskRecord, keyof StoredTask>),
    ...columns,
    status: status as TaskStatus,
  };
}

export function taskRow(task: TaskRecord): StoredTask {
  const { task_id, session_id, status, created_at, updated_at, ...content } = task;
  return { task_id, session_id, status, created_at, updated_at, content: asJson(content) };
}

interface StoredClaim extends Omit<ClaimRecord, "run_id" | "lease_expires_at"> {}

type Definition = Pick<StepRecord, "title" | "instructions" | "expected_output">;

export function stepOf(row: StoredStep): StepRecord {
  const { task_id, step_id, position, status, open_dependencies, run_id, lease_expires_at } = row;
  const { claim, ...state } = row.state as unknown as Pick<
    StepRecord,
    "attempts" | "max_attempts" | "updated_at"
  > & { claim?: StoredClaim };
  const definition = row.definition.content as unknown as Definition;
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

export function stepState(step: StepRecord): StepState {
  const { task_id, step_id, position, status, open_dependencies, claim, ...rest } = step;
  const { title: _title, instructions: _instructions, expected_output: _output, ...state } = rest;
  const { depends_on: _dependencies, ...kept } = state;
  if (claim === undefined) {
    return { task_id, step_id, position, status, open_dependencies, state: asJson(kept) };
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
    state: asJson({ ...kept, claim: storedClaim }),
  };
}

export function stepDefinition(step: StepRecord): StepDefinition {
  const { title, instructions, expected_output, depends_on } = step;
  return { depends_on, content: asJson({ title, instructions, expected_output }) };
}

export function countsOf(found: Readonly<Record<string, number>> | undefined): StepCounts {
  const counts = STEP_STATUSES.map((status) => [status, found?.[status] ?? 0] as const);
  return Object.fromEntries(counts) as StepCounts;
}

/** What is undefined is left out, as in JSON: every storage gives back the same. */
function asJson(record: object): JsonObject {
  const given = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
