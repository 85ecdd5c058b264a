// The tasks of a store, for everyone who acts on them: who may (TASK-5), what follows (TASK-2…4), all in one
// transaction of the storage, recorded as facts when it is done.

import { randomIds, systemClock, type Clock, type FactData, type IdSource } from "@soong/core";
import { machineTime } from "@soong/platform";
import { isVisibleTo, mayAct, requireAction, type TaskAction, type TaskActor } from "./actor.ts";
import { createDraft, toStepRecord, toTaskRecord, type Draft } from "./draft.ts";
import {
  endClaim,
  expireLeases,
  getAssignedStep,
  planClaim,
  returnStep,
  startLease,
  type Claimed,
  type ClaimRequest,
  type EarlierCalls,
  type HeldClaim,
} from "./claims.ts";
import type { TaskFactType } from "./facts.ts";
import { DEFAULT_LEASE_MS, DEFAULT_MAX_ATTEMPTS, MIN_LEASE_MS } from "./limits.ts";
import { planStepUpdate, type StepUpdate } from "./plan-step-update.ts";
import {
  planComplete,
  planCreate,
  planEnd,
  type NewTask,
  type TaskCompletion,
  type TaskEnding,
} from "./plan-task.ts";
import { planUpdate, type TaskUpdate } from "./plan-update.ts";
import type { StepRecord, StepStatus, TaskRecord } from "./records.ts";
import { refuse, TaskRefused } from "./refusal.ts";
import type { FoundRows, StoredTask, TaskSelection, TaskStorage } from "./storage.ts";
import {
  taskReader,
  type StepListing,
  type TaskListing,
  type TaskReader,
  type TaskWithCounts,
} from "./task-view.ts";

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
  list(caller: TaskCaller, page?: Omit<TaskListing, "session_id">): Promise<TaskRecord[]>;
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

export interface StepQuery extends StepListing {
  readonly task_id: string;
  /** Only these; the other filters do not apply to them. */
  readonly step_ids?: readonly string[] | undefined;
  readonly statuses?: readonly StepStatus[] | undefined;
}

export interface TasksOptions {
  readonly storage: TaskStorage;
  readonly clock?: Pick<Clock, "now">;
  readonly ids?: IdSource;
  /** How long a claim holds without a heartbeat. Default: a minute. */
  readonly leaseMs?: number;
  /** How often a step without a `max_attempts` is tried. Default: three times. */
  readonly maxAttempts?: number;
}

export function createTasks(options: TasksOptions): Tasks {
  const { storage, clock = systemClock(), ids = randomIds() } = options;
  const { leaseMs = DEFAULT_LEASE_MS, maxAttempts = DEFAULT_MAX_ATTEMPTS } = options;
  if (!(leaseMs >= MIN_LEASE_MS)) {
    throw new RangeError(`a lease of ${leaseMs} ms is too short; at least ${MIN_LEASE_MS}`);
  }
  const reader = taskReader(storage);
  /** Tasks in which there was nothing to claim: the next claim reads first, so that it does not block writers. */
  const idle = new Set<string>();
  const alive = new Set<string>();
  const rules = {
    maxAttempts,
    leaseMs,
    isAlive: (token: string) => alive.has(token),
    // A clock that was given is the only one there is.
    machineTime: options.clock === undefined ? machineTime : () => undefined,
  };

  return {
    leaseMs,
    reader,
    alive,
    async create(caller, given) {
      const task_id = ids.next("task");
      const selection = { task_id, tasks_of_session: caller.actor.session_id };
      requireAction(caller.actor, "create");
      await change(caller.record, selection, (draft) =>
        planCreate(draft, caller.actor, task_id, given),
      );
      return readWithCounts(task_id);
    },
    async get(caller, task_id) {
      await checkAndExpire(caller, "get", task_id);
      return readWithCounts(task_id);
    },
    async list({ actor }, page = {}) {
      requireAction(actor, "list");
      return reader.list({ ...page, session_id: actor.session_id });
    },
    async querySteps(caller, { task_id, step_ids, ...page }) {
      await checkAndExpire(caller, "query_steps", task_id);
      if (step_ids === undefined) return reader.steps(task_id, page);
      return (await storage.read({ task_id, steps: step_ids })).steps.map(toStepRecord);
    },
    async update(caller, update) {
      const selection = { task_id: update.task_id, steps: "all" } as const;
      await changeTask(caller, "update", selection, (draft, task) => {
        expireLeases(draft);
        planUpdate(draft, task, update);
      });
      return readWithCounts(update.task_id);
    },
    async claim(caller, request) {
      const { actor } = caller;
      const { task_id, step_id = getAssignedStep(actor) } = request;
      const token = ids.next("claim");
      const selection: TaskSelection = {
        task_id,
        with_status: [{ statuses: ["ready"], limit: step_id === undefined ? 1 : READY_NAMED }],
        leases_until: clock.now(),
        claims_of: actor.run_id,
        ...(step_id !== undefined && { steps: [step_id] }),
      };
      if (idle.has(task_id)) {
        const found = await storage.read(selection);
        if (hasNothingFor(actor, found)) {
          return { kind: "nothing_ready", task: toTaskRecord(found.task) };
        }
      }
      const claimed = await changeTask(caller, "claim_step", selection, (draft, task) =>
        planClaim(draft, task, actor, request, token),
      );
      if (claimed.kind === "nothing_ready") idle.add(task_id);
      else idle.delete(task_id);
      return claimed;
    },
    updateStep(caller, update) {
      const { task_id, step_id } = update;
      const selection = { task_id, steps: [step_id], with_dependents: true };
      return changeTask(caller, "update_step", selection, (draft, task) =>
        planStepUpdate(draft, task, caller.actor, update),
      );
    },
    complete(caller, completion) {
      const selection = { task_id: completion.task_id, counts: true };
      return changeTask(caller, "complete", selection, (draft, task) =>
        planComplete(draft, task, completion),
      );
    },
    fail: (caller, ending) => endTask(caller, "fail", "failed", ending),
    cancel: (caller, ending) => endTask(caller, "cancel", "cancelled", ending),
    async board(caller, task_id) {
      await checkAndExpire(caller, "get", task_id);
      return requireTask(task_id, await reader.board(task_id));
    },
    renew(claim, record) {
      return changeClaimedStep(claim, record, (draft, step) => {
        const lease = startLease(draft);
        if (step.claim !== undefined)
          draft.putStep({ ...step, claim: { ...step.claim, ...lease } });
        return lease.lease_expires_at;
      });
    },
    async release(claim, how, record) {
      try {
        await changeClaimedStep(claim, record, (draft, step) => {
          if (how === "aborted") returnStep(draft, step, "its worker was stopped");
          else endClaim(draft, step, "released", "its worker ended without finishing it");
        });
      } catch (error) {
        if (!(error instanceof TaskRefused)) throw error;
      }
    },
  };

  function endTask(
    caller: TaskCaller,
    action: "fail" | "cancel",
    status: "failed" | "cancelled",
    ending: TaskEnding,
  ): Promise<TaskRecord> {
    const selection = { task_id: ending.task_id, steps: "all" } as const;
    return changeTask(caller, action, selection, (draft, task) =>
      planEnd(draft, task, status, ending),
    );
  }

  /** Before anything is read: what lost workers held is ready again (TASK-4). */
  async function checkAndExpire(
    caller: TaskCaller,
    action: TaskAction,
    task_id: string,
  ): Promise<void> {
    const { actor, record } = caller;
    requireAction(actor, action);
    const selection = { task_id, leases_until: clock.now() };
    const { task, steps } = await storage.read(selection);
    requireTask(task_id, task && isVisibleTo(actor, task) ? task : undefined);
    if (steps.length > 0) await change(record, selection, expireLeases);
  }

  async function changeTask<Value>(
    { actor, record }: TaskCaller,
    action: TaskAction,
    selection: TaskSelection,
    plan: (draft: Draft, task: TaskRecord) => Value,
  ): Promise<Value> {
    requireAction(actor, action);
    return change(record, selection, (draft) => {
      const task = draft.task();
      const own = task && isVisibleTo(actor, task) ? task : undefined;
      return plan(draft, requireTask(selection.task_id, own));
    });
  }

  async function changeClaimedStep<Value>(
    claim: HeldClaim,
    record: RecordTaskFact | undefined,
    plan: (draft: Draft, step: StepRecord) => Value,
  ): Promise<Value> {
    const { task_id, step_id, token } = claim;
    return change(record, { task_id, steps: [step_id] }, (draft) => {
      expireLeases(draft);
      const step = draft.step(step_id);
      if (step?.claim?.token === token) return plan(draft, step);
      const now = step === undefined ? "not there any more" : `${step.status} now`;
      throw refuse("claim_lost", `The claim on step ${step_id} is lost: the step is ${now}.`);
    });
  }

  async function change<Value>(
    record: RecordTaskFact | undefined,
    selection: TaskSelection,
    plan: (draft: Draft) => Value,
  ): Promise<Value> {
    const { outcome, facts } = await storage.change(selection, (found) => {
      // Read in the transaction: after waiting for it, leases must not be judged by an earlier time.
      const draft = createDraft(found, found.now ?? clock.now(), rules);
      const outcome = attempt(() => plan(draft));
      return { answer: { outcome, facts: draft.facts }, ...draft.writes() };
    });
    for (const { type, data } of facts) record?.(type, data);
    if (outcome instanceof TaskRefused) throw outcome;
    return outcome.value;
  }

  async function readWithCounts(task_id: string): Promise<TaskWithCounts> {
    return requireTask(task_id, await reader.get(task_id));
  }
}

/** A refusal is thrown after what the plan found out on the way is written. */
function attempt<Value>(plan: () => Value): { readonly value: Value } | TaskRefused {
  try {
    return { value: plan() };
  } catch (error) {
    if (error instanceof TaskRefused) return error;
    throw error;
  }
}

/** When in doubt there is something, and be it a refusal. */
function hasNothingFor(
  actor: TaskActor,
  found: FoundRows,
): found is FoundRows & { readonly task: StoredTask } {
  const { task, steps } = found;
  return (
    task !== undefined &&
    (task.status === "running" || task.status === "pending") &&
    mayAct(actor, "claim_step") &&
    isVisibleTo(actor, task) &&
    steps.length === 0
  );
}

/** How many ready steps are named when the requested one is not ready. */
const READY_NAMED = 5;

function requireTask<Found>(task_id: string, found: Found | undefined): Found {
  if (found !== undefined) return found;
  throw refuse(
    "task_unknown",
    `There is no task ${task_id} for this run. An orchestrator finds its tasks with task_list; a worker has the one it was given.`,
  );
}
