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
export const REQUESTED_STATUSES = [
  "running",
  "completed",
  "failed",
  "blocked",
  "ready",
  "cancelled",
] as const;

export type RequestedStatus = (typeof REQUESTED_STATUSES)[number];

/** By whom, and from which status; from any other nothing. */
const REQUESTABLE: Readonly<
  Record<"worker" | "orchestrator", Partial<Record<StepStatus, readonly RequestedStatus[]>>>
> = {
  worker: { claimed: ["running"], running: ["completed", "failed", "blocked"] },
  orchestrator: {
    pending: ["cancelled"],
    ready: ["cancelled"],
    claimed: ["running", "ready", "cancelled"],
    running: ["completed", "failed", "blocked", "ready", "cancelled"],
    blocked: ["ready", "cancelled"],
    failed: ["ready", "cancelled"],
  },
};

/** Every plan follows this table. */
export function mayBecome(from: StepStatus, to: StepStatus): boolean {
  return STEP_NEXT[from].includes(to);
}

export function requireTaskTransition(
  { task_id, status }: { readonly task_id: string; readonly status: TaskStatus },
  to: TaskStatus,
): void {
  requireNext(`Task ${task_id}`, status, to, TASK_NEXT[status]);
}

export function requireRequestable(
  who: keyof typeof REQUESTABLE,
  { step_id, status }: { readonly step_id: string; readonly status: StepStatus },
  to: RequestedStatus,
): void {
  requireNext(`Step ${step_id}`, status, to, REQUESTABLE[who][status] ?? []);
}

function requireNext(what: string, from: string, to: string, legal: readonly string[]): void {
  if (legal.includes(to)) return;
  const next =
    legal.length === 0 ? "Nothing follows that status." : `From there: ${legal.join(", ")}.`;
  const message = `${what} is ${from} and cannot become ${to}. ${next}`;
  throw refuse("illegal_transition", message, { from, to, legal: [...legal] });
}
