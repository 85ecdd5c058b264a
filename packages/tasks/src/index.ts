// @soong/tasks: the task DAG, its rules, and the tools that work on it. Rows are kept behind a port; deciding is pure.

export {
  type ReleaseReason,
  type StepQuery,
  type TaskCaller,
  type Tasks,
  createTasks,
  type TasksOptions,
} from "./tasks.ts";
export type { TaskActor } from "./actor.ts";
export { createClaimKeeper, type ClaimKeeper, type ClaimKeeperOptions } from "./claim-keeper.ts";
export { TASK_FACT_TEXTS } from "./facts.ts";
export type * from "./facts.ts";
export {
  describeEarlierAttempts,
  type EarlierCall,
  type Claimed,
  type ClaimRequest,
  type HeldClaim,
} from "./claims.ts";
export { createMemoryTasks } from "./memory-tasks.ts";
export type { NewStep, NewTask } from "./new-task.ts";
export type { TaskOperation } from "./operation.ts";
export type { TaskCompletion, TaskEnding, TaskUpdate } from "./plan-update.ts";
export type { StepUpdate } from "./plan-step-update.ts";
export type {
  ClaimRecord,
  EarlierAttempt,
  StepCounts,
  StepFailure,
  StepRecord,
  StepStatus,
  TaskRecord,
  TaskStatus,
  WorkResult,
} from "./records.ts";
export { TaskRefused, type RefusalCode } from "./refusal.ts";
export type * from "./storage.ts";
export { taskReader, type TaskReader, type TaskWithCounts } from "./task-view.ts";
export { taskTools, type TaskToolParts } from "./orchestrator-tools.ts";
