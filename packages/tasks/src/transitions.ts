// The state machines of tasks and steps (TASK-2), as tables: which status may follow which, and who may ask for it.

import type { StepStatus, TaskStatus } from "./records.ts";
import { refuse } from "./refusal.ts";

/** `running` comes with the first claim, never by asking for it. */
const TASK_NEXT: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  pending: ["running", "blocked", "cancelled"],
  blocked: ["pending", "cancelled"],
  running: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

const STEP_NEXT: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  pending: ["ready", "cancelled"],
  ready: ["pending", "claimed", "cancelled"],
  // `ready` and `failed` here: the claim was lost or given back, with or without attempts left (TASK-4).
  claimed: ["running", "ready", "failed", "cancelled"],
  running: ["completed", "failed", "blocked", "ready", "cancelled"],
  failed: ["ready", "pending", "cancelled"],
  blocked: ["ready", "pending", "cancelled"],
  completed: [],
  cancelled: [],
};

/** What `task_update_step` may be asked for. `ready` means "as ready as its dependencies are". */
export const REQUESTABLE = {
  worker: {
    pending: [],
    ready: [],
    claimed: ["running"],
    running: ["completed", "failed", "blocked"],
    blocked: [],
    failed: [],
    completed: [],
    cancelled: [],
  },
  orchestrator: {
    pending: ["cancelled"],
    ready: ["cancelled"],
    claimed: ["running", "ready", "cancelled"],
    running: ["completed", "failed", "blocked", "ready", "cancelled"],
    blocked: ["ready", "cancelled"],
    failed: ["ready", "cancelled"],
    completed: [],
    cancelled: [],
  },
} as const satisfies Record<string, Readonly<Record<StepStatus, readonly StepStatus[]>>>;

export type RequestedStatus =
  | "running"
  | "completed"
  | "failed"
  | "blocked"
  | "ready"
  | "cancelled";

/** Every plan follows this table. */
export function mayBecome(from: StepStatus, to: StepStatus): boolean {
  return STEP_NEXT[from].includes(to);
}

export function checkTaskTransition(
  task: { readonly task_id: string; readonly status: TaskStatus },
  to: TaskStatus,
): void {
  const legal = TASK_NEXT[task.status];
  if (legal.includes(to)) return;
  return refuse(
    "illegal_transition",
    `Task ${task.task_id} is ${task.status} and cannot become ${to}. ${describeNextStatuses(legal)}`,
    { from: task.status, to, legal: [...legal] },
  );
}

export function checkRequest(
  who: keyof typeof REQUESTABLE,
  step: { readonly step_id: string; readonly status: StepStatus },
  to: StepStatus,
): void {
  const legal: readonly StepStatus[] = REQUESTABLE[who][step.status];
  if (legal.includes(to)) return;
  return refuse(
    "illegal_transition",
    `Step ${step.step_id} is ${step.status} and cannot become ${to}. ${describeNextStatuses(legal)}`,
    { from: step.status, to, legal: [...legal] },
  );
}

function describeNextStatuses(legal: readonly string[]): string {
  return legal.length === 0 ? "Nothing follows that status." : `From there: ${legal.join(", ")}.`;
}
