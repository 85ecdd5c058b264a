// What a task and its steps are, as records that leave the process (TASK-2).

export const TASK_STATUSES = [
  "pending",
  "running",
  "blocked",
  "completed",
  "failed",
  "cancelled",
] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];

export const STEP_STATUSES = [
  "pending",
  "ready",
  "claimed",
  "running",
  "blocked",
  "completed",
  "failed",
  "cancelled",
] as const;

export type StepStatus = (typeof STEP_STATUSES)[number];

export interface TaskRecord {
  task_id: string;
  session_id: string;
  title: string;
  goal: string;
  status: TaskStatus;
  /** Of its plan: counts the updates of title, goal, steps and dependencies, not what workers do. */
  version: number;
  created_by: { run_id: string; agent_id: string };
  created_at: string;
  updated_at: string;
  started_at?: string;
  ended_at?: string;
  result?: WorkResult;
  /** Why it failed, was cancelled or is blocked. */
  reason?: string;
}

export interface StepRecord {
  task_id: string;
  /** Unique within its task. */
  step_id: string;
  title: string;
  instructions: string;
  expected_output?: string;
  depends_on: readonly string[];
  position: number;
  status: StepStatus;
  /** Of its dependencies, those that are not completed. */
  open_dependencies: number;
  /** Claims so far, without those that were given back unused. */
  attempts: number;
  max_attempts: number;
  claim?: ClaimRecord;
  result?: WorkResult;
  /** Of the last attempt that failed or was lost; stays when it is tried again. */
  failure?: StepFailure;
  /** Every claim that ended without a result, oldest first; the last ten. */
  earlier?: readonly EarlierAttempt[];
  /** Why it is blocked or cancelled. */
  reason?: string;
  /** The last note of its worker. */
  note?: string;
  updated_at: string;
  started_at?: string;
  ended_at?: string;
  /** Who ended it, or the last to have held it. */
  last_run_id?: string;
  /** The worker of that run. */
  last_worker?: string;
}

/** Who works on a step, and until when that holds without a heartbeat. */
export interface ClaimRecord {
  /** New for each claim: the holder of an older one has lost it. */
  token: string;
  run_id: string;
  agent_id: string;
  worker?: string;
  claimed_at: string;
  lease_expires_at: string;
  /** The same by the clock of the machine that holds it, which no one can set; it counts where that is this machine. */
  lease_clock?: { readonly machine: string; readonly until_ms: number };
}

export interface WorkResult {
  summary: string;
  artifacts: readonly string[];
}

export interface StepFailure {
  code: "failed" | "lease_lost" | "released";
  message: string;
  /** Which attempt it was. */
  attempt: number;
  run_id: string;
  at: string;
}

export interface EarlierAttempt {
  attempt: number;
  /** `stopped`: its worker was stopped from outside, which is no attempt of the step. */
  outcome: "failed" | "blocked" | "lease_lost" | "released" | "stopped";
  message: string;
  run_id: string;
  worker?: string;
  at: string;
}

export type StepCounts = Readonly<Record<StepStatus, number>>;

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** A task in such a status is never changed again. */
export function isTaskEnded(status: TaskStatus): boolean {
  return ENDED.has(status);
}

/** Nothing more happens to such a step. */
export function isStepOver(status: StepStatus): boolean {
  return status === "completed" || status === "cancelled";
}
