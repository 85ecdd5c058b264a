// @soong/tasks: the task DAG, its rules, and the tools that work on it. Rows are kept behind a port; deciding is pure.

export type { ReleaseReason, StepQuery, TaskCaller, Tasks } from "./tasks-api.ts";
export type { TaskActor } from "./actor.ts";
export { createClaimKeeper, type ClaimKeeper, type ClaimKeeperOptions } from "./claim-keeper.ts";
export { TASK_FACT_TEXTS } from "./fact-texts.ts";
export type * from "./facts.ts";
export { describeEarlierAttempts, type EarlierCall } from "./earlier-attempts.ts";
export { createMemoryTasks } from "./memory-tasks.ts";
export type { NewStep, NewTask } from "./new-task.ts";
export type { TaskOperation } from "./operation.ts";
export type { Claimed, ClaimRequest, HeldClaim } from "./plan-claim.ts";
export type { TaskCompletion, TaskEnding } from "./plan-end.ts";
export type { StepUpdate } from "./plan-step-update.ts";
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
export { taskReader, type TaskReader, type TaskWithCounts } from "./task-reader.ts";
export { createTasks, type TasksOptions } from "./tasks.ts";
export { taskTools, type TaskToolParts } from "./orchestrator-tools.ts";
