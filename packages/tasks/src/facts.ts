// The facts of tasks and their steps, by type (TASK-3).

import type { FactContent } from "@soong/core";
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
    now_ready: readonly string[];
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
