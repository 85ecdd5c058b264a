// Who may do what to which task (TASK-5). The actor is made from the run that acts, never from anything a model says.

import type { TaskRecord } from "./records.ts";
import { refuse } from "./refusal.ts";

export type TaskActor =
  /** Main, in orchestrator mode: everything, to the tasks of its session. */
  | ({ readonly kind: "orchestrator"; readonly session_id: string } & RunIds)
  /** Its one task, and in it the step it has claimed. */
  | ({
      readonly kind: "worker";
      readonly session_id: string;
      readonly task_id: string;
      /** It was given this step and takes no other. */
      readonly step_id?: string;
      readonly worker?: string;
    } & RunIds)
  | ({ readonly kind: "other"; readonly session_id: string; readonly role: string } & RunIds);

interface RunIds {
  readonly run_id: string;
  readonly agent_id: string;
}

export type TaskAction =
  | "template"
  | "create"
  | "list"
  | "get"
  | "query_steps"
  | "update"
  | "claim_step"
  | "update_step"
  | "complete"
  | "fail"
  | "cancel";

const WORKER_ACTIONS: readonly TaskAction[] = ["get", "query_steps", "claim_step", "update_step"];

export function mayAct({ kind }: TaskActor, action: TaskAction): boolean {
  return kind === "orchestrator" || (kind === "worker" && WORKER_ACTIONS.includes(action));
}

/** Before anything is looked at. */
export function requireAction(actor: TaskActor, action: TaskAction): void {
  if (mayAct(actor, action)) return;
  throw refuse(
    "not_allowed",
    actor.kind === "worker"
      ? `A worker may not ${action} tasks. A worker may get its own task, query its steps, claim a ready one and update the one it claimed.`
      : `An agent in the role ${"role" in actor ? actor.role : ""} may not ${action} tasks. Tasks are for the orchestrator and its workers.`,
  );
}

/** A task that is not the actor's does not exist for it: its id reveals nothing. */
export function isVisibleTo(
  actor: TaskActor,
  task: Pick<TaskRecord, "task_id" | "session_id">,
): boolean {
  if (actor.kind === "other" || actor.session_id !== task.session_id) return false;
  return actor.kind === "orchestrator" || actor.task_id === task.task_id;
}
