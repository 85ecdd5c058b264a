// What can be done with the tasks of a store, by whom, and what comes back: the face `createTasks` puts on a storage.

import type { FactData } from "@soong/core";
import type { TaskActor } from "./actor.ts";
import type { TaskFactType } from "./facts.ts";
import type { EarlierCalls } from "./earlier-attempts.ts";
import type { NewTask } from "./new-task.ts";
import type { Claimed, ClaimRequest, HeldClaim } from "./plan-claim.ts";
import type { TaskCompletion, TaskEnding } from "./plan-end.ts";
import type { StepUpdate } from "./plan-step-update.ts";
import type { TaskUpdate } from "./plan-update.ts";
import type { StepRecord, StepStatus, TaskRecord, TaskStatus } from "./records.ts";
import type { StepListing, TaskReader, TaskWithCounts } from "./task-reader.ts";

export type RecordTaskFact = <T extends TaskFactType>(type: T, data: FactData<T>) => void;

/** Who acts, and where what they did is put on record. */
export interface TaskCaller {
  readonly actor: TaskActor;
  readonly record?: RecordTaskFact | undefined;
  /** What earlier runs of the session did, for a run that takes over a step of theirs. */
  readonly readCalls?: EarlierCalls | undefined;
}

/** Refusals are thrown as a `TaskRefused`. */
export interface Tasks {
  readonly leaseMs: number;
  /** For the runtime itself: without an actor, and read-only. */
  readonly reader: TaskReader;
  /** Tokens of claims whose workers live in this process: reading a task here renews them. */
  readonly alive: Set<string>;
  create(caller: TaskCaller, task: NewTask): Promise<TaskWithCounts>;
  get(caller: TaskCaller, task_id: string): Promise<TaskWithCounts>;
  /** Those of the orchestrator's session, newest first. */
  list(caller: TaskCaller, page?: TaskListPage): Promise<TaskRecord[]>;
  querySteps(caller: TaskCaller, query: StepQuery): Promise<StepRecord[]>;
  update(caller: TaskCaller, update: TaskUpdate): Promise<TaskWithCounts>;
  claim(caller: TaskCaller, request: ClaimRequest): Promise<Claimed>;
  updateStep(caller: TaskCaller, update: StepUpdate): Promise<StepRecord>;
  complete(caller: TaskCaller, completion: TaskCompletion): Promise<TaskRecord>;
  fail(caller: TaskCaller, ending: TaskEnding): Promise<TaskRecord>;
  cancel(caller: TaskCaller, ending: TaskEnding): Promise<TaskRecord>;
  board(caller: TaskCaller, task_id: string): Promise<string>;
  /** A heartbeat: the lease begins anew. Refused when the claim is lost. Returns its new end. */
  renew(claim: HeldClaim, record?: RecordTaskFact): Promise<string>;
  /** For a worker that ends without having finished. Nothing happens when the claim is lost already. */
  release(claim: HeldClaim, how: ReleaseReason, record?: RecordTaskFact): Promise<void>;
}

/** `ended`: the worker came to its end, which counts as an attempt. `aborted`: it was stopped from outside. */
export type ReleaseReason = "ended" | "aborted";

export interface TaskListPage {
  readonly statuses?: readonly TaskStatus[] | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

export interface StepQuery extends StepListing {
  readonly task_id: string;
  /** Only these; the other filters do not apply to them. */
  readonly step_ids?: readonly string[] | undefined;
  readonly statuses?: readonly StepStatus[] | undefined;
}
