// The facts of tasks and their steps, by type (TASK-3), and what they say.

import { countOf, inBrackets, phrase, type FactContent, type FactTexts } from "@soong/core";
import type { ClaimRecord, StepCounts } from "./records.ts";

declare module "@soong/core" {
  interface FactPayloads extends TaskFactPayloads {}
}

export interface TaskFactPayloads {
  "task.created": OfTask & { title: string; version: number; steps: number; ready: number };
  "task.started": OfTask;
  "task.updated": OfTask & {
    version: number;
    steps: number;
    /** The first of them; `operations_in_all` where there are more. */
    operations: readonly { op: string; step_id?: string }[];
    operations_in_all?: number;
  };
  "task.blocked": OfTask & { reason?: string };
  "task.unblocked": OfTask & { reason?: string };
  "task.completed": OfTask & { summary: string; artifacts: readonly string[]; counts: StepCounts };
  "task.failed": TaskStopped;
  "task.cancelled": TaskStopped;
  "task.step.claimed": OfStep & Attempt & { title: string; claim: PublicClaim };
  "task.step.dispatched": OfStep & { worker: string };
  "task.step.started": OfStep & { attempt: number; claim?: PublicClaim };
  "task.step.completed": OfStep & {
    attempt: number;
    claim?: PublicClaim;
    summary: string;
    artifacts: readonly string[];
    /** Absent where someone else records it later. */
    now_ready?: readonly string[];
  };
  "task.step.failed": OfStep & Attempt & { reason: string; claim?: PublicClaim };
  "task.step.blocked": OfStep & { reason: string; claim?: PublicClaim };
  "task.step.cancelled": OfStep & { reason: string; claim?: PublicClaim };
  "task.step.unblocked": OfStep & { attempts: number; max_attempts: number };
  "task.step.retried": OfStep & { attempts: number; max_attempts: number };
  "task.step.released": ClaimEnded;
  "task.step.lease_lost": ClaimEnded;
  "task.step.not_released": { run_id: string; message: string };
}

export type TaskFactType = keyof TaskFactPayloads;

/** One fact of a task, before it is recorded. */
export type TaskFact = FactContent<TaskFactType>;

/** Who holds a claim, without the token, which is its holder's alone. */
export type PublicClaim = Omit<ClaimRecord, "token">;

interface OfTask {
  task_id: string;
}

interface OfStep extends OfTask {
  step_id: string;
}

interface Attempt {
  attempt: number;
  max_attempts: number;
}

type TaskStopped = OfTask & {
  reason: string;
  steps_cancelled: number;
  claims_ended: readonly (PublicClaim & { step_id: string })[];
};

type ClaimEnded = OfStep &
  Attempt & {
    reason: string;
    status: "ready" | "failed";
    claim: PublicClaim;
    /** False: the attempt does not count. */
    counted?: boolean;
  };

export const TASK_FACT_TEXTS: FactTexts<keyof TaskFactPayloads> = {
  "task.created": ({ task_id, title, steps }) =>
    phrase(`${task_id} created:`, title, inBrackets(countOf(steps, "step"))),
  "task.started": ({ task_id }) => `${task_id} started`,
  "task.updated": ({ task_id, version, operations, operations_in_all }) =>
    `${task_id} changed to version ${version} (${countOf(operations_in_all ?? operations.length, "operation")})`,
  "task.blocked": ({ task_id, reason }) => phrase(`${task_id} blocked`, inBrackets(reason)),
  "task.unblocked": ({ task_id, reason }) => phrase(`${task_id} unblocked`, inBrackets(reason)),
  "task.completed": ({ task_id, summary }) => phrase(`${task_id} completed:`, summary),
  "task.failed": ({ task_id, reason }) => phrase(`${task_id} failed:`, reason),
  "task.cancelled": ({ task_id, reason }) => phrase(`${task_id} cancelled:`, reason),
  "task.step.claimed": (data) =>
    phrase(
      `${stepText(data)} claimed by`,
      data.claim.worker ?? data.claim.run_id,
      attemptText(data),
    ),
  "task.step.dispatched": (data) => phrase(`${stepText(data)} dispatched to`, data.worker),
  "task.step.started": (data) => phrase(stepText(data), "started", attemptText(data)),
  "task.step.completed": (data) => phrase(`${stepText(data)} completed:`, data.summary),
  "task.step.failed": (data) => phrase(`${stepText(data)} failed:`, data.reason, attemptText(data)),
  "task.step.blocked": (data) => phrase(`${stepText(data)} blocked:`, data.reason),
  "task.step.cancelled": (data) => phrase(`${stepText(data)} cancelled:`, data.reason),
  "task.step.unblocked": (data) => `${stepText(data)} unblocked`,
  "task.step.retried": (data) => `${stepText(data)} is to be tried again`,
  "task.step.released": (data) => phrase(`${stepText(data)} released:`, data.reason),
  "task.step.lease_lost": (data) => phrase(`${stepText(data)} lost its worker:`, data.reason),
  "task.step.not_released": ({ message }) => message,
};

function stepText({ task_id, step_id }: { task_id: string; step_id: string }): string {
  return `${task_id} ${step_id}`;
}

function attemptText({ attempt }: { attempt: number }): string | undefined {
  return attempt > 1 ? `(attempt ${attempt})` : undefined;
}
