// Records as the rows a storage keeps, and back.

import type { JsonObject } from "@soong/core";
import { asJson, omitUndefined } from "@soong/schema";
import {
  type ClaimRecord,
  STEP_STATUSES,
  type StepCounts,
  type StepRecord,
  type StepStatus,
  type TaskRecord,
  type TaskStatus,
} from "./records.ts";
import type { StepDefinition, StepState, StoredStep, StoredTask } from "./storage.ts";

export function toTaskRecord(row: StoredTask): TaskRecord {
  const { content, status, ...columns } = row;
  return {
    ...readStored("task", content),
    ...columns,
    status: status as TaskStatus,
  };
}

export function toTaskRow(task: TaskRecord): StoredTask {
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

export function toStepState(step: StepRecord): StepState {
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

export function toStepDefinition(step: StepRecord): StepDefinition {
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
