// @soong/tasks: the task DAG, its rules, and the tools that work on it. Rows are kept behind a port; deciding is pure.

export type { TaskActor } from "./actor.ts";
export { createClaimKeeper, type ClaimKeeper, type ClaimKeeperOptions } from "./claim-keeper.ts";
export { describeEarlierAttempts, type EarlierCall } from "./claims.ts";
export { TASK_FACT_TEXTS } from "./facts.ts";
export type * from "./facts.ts";
export { createMemoryTasks } from "./memory-tasks.ts";
export type { TaskOperation } from "./operation.ts";
export type { Claimed, ClaimRequest, HeldClaim } from "./claims.ts";
export { toCompletionFact, type StepUpdate } from "./plan-step-update.ts";
export type { NewStep, NewTask, TaskCompletion, TaskEnding } from "./plan-task.ts";
export type { TaskUpdate } from "./plan-update.ts";
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
export { taskTools, type TaskToolParts } from "./task-tools.ts";
export {
  createTasks,
  type ReleaseReason,
  type StepQuery,
  type TaskCaller,
  type Tasks,
  type TasksOptions,
} from "./tasks.ts";
