// The tasks of a store, for everyone who acts on them: who may (TASK-5), what follows (TASK-2…4), all in one
// transaction of the storage, told as facts when it is done.

import { randomIds, systemClock, type Clock, type IdSource } from "@soong/core";
import { machineTime } from "@soong/platform";
import type { RecordTaskFact, TaskCaller, Tasks } from "./acting.ts";
import { isVisibleTo, mayAct, type TaskAction, type TaskActor } from "./actor.ts";
import { createDraft, type Draft } from "./draft.ts";
import type { TaskFact } from "./facts.ts";
import { endClaim, giveBack, leaseFrom, loseLeases } from "./leases.ts";
import { DEFAULT_LEASE_MS, DEFAULT_MAX_ATTEMPTS, MIN_LEASE_MS } from "./limits.ts";
import { planCreate } from "./new-task.ts";
import { planClaim, stepGivenTo, type HeldClaim } from "./plan-claim.ts";
import { planComplete, planEnd, type TaskEnding } from "./plan-end.ts";
import { planStepUpdate } from "./plan-step.ts";
import { planUpdate } from "./plan-update.ts";
import type { StepRecord, TaskRecord } from "./records.ts";
import { refuse, TaskRefused, type Outcome, type Refusal } from "./refusal.ts";
import type { FoundRows, StoredTask, TaskSelection, TaskStorage } from "./storage.ts";
import { stepOf, taskOf } from "./stored-rows.ts";
import { taskReader, type TaskWithCounts } from "./task-reader.ts";

export interface TasksOptions {
  readonly storage: TaskStorage;
  readonly clock?: Pick<Clock, "now">;
  readonly ids?: IdSource;
  /** How long a claim holds without a sign of life. Left out: a minute. */
  readonly leaseMs?: number;
  /** How often a step that says nothing of it is tried. Left out: three times. */
  readonly maxAttempts?: number;
}

export function createTasks(options: TasksOptions): Tasks {
  const { storage, clock = systemClock(), ids = randomIds() } = options;
  const { leaseMs = DEFAULT_LEASE_MS, maxAttempts = DEFAULT_MAX_ATTEMPTS } = options;
  if (!(leaseMs >= MIN_LEASE_MS)) {
    throw new RangeError(`a lease of ${leaseMs} ms is too short; at least ${MIN_LEASE_MS}`);
  }
  const reader = taskReader(storage);
  /** Tasks in which there was nothing to claim: whoever comes again only looks, and holds up nobody who works. */
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
      const allowed = mayAct(caller.actor, "create");
      await change(caller.record, selection, (draft) =>
        allowed.ok ? planCreate(draft, caller.actor, task_id, given) : allowed,
      );
      return withCounts(task_id);
    },
    async get(caller, task_id) {
      await look(caller, "get", task_id);
      return withCounts(task_id);
    },
    async list({ actor }, page = {}) {
      valueOf(mayAct(actor, "list"));
      return reader.list({ ...page, session_id: actor.session_id });
    },
    async querySteps(caller, { task_id, step_ids, ...page }) {
      await look(caller, "query_steps", task_id);
      if (step_ids === undefined) return reader.steps(task_id, page);
      return (await storage.read({ task_id, steps: step_ids })).steps.map(stepOf);
    },
    async update(caller, update) {
      const selection = { task_id: update.task_id, steps: "all" } as const;
      await onTask(caller, "update", selection, (draft, task) => {
        loseLeases(draft);
        return planUpdate(draft, task, update);
      });
      return withCounts(update.task_id);
    },
    async claim(caller, request) {
      const { actor } = caller;
      const { task_id, step_id = stepGivenTo(actor) } = request;
      const token = ids.next("claim");
      const selection: TaskSelection = {
        task_id,
        with_status: [{ statuses: ["ready"], limit: step_id === undefined ? 1 : READY_TOLD }],
        leases_until: clock.now(),
        claims_of: actor.run_id,
        ...(step_id === undefined ? {} : { steps: [step_id] }),
      };
      if (idle.has(task_id)) {
        const found = await storage.read(selection);
        if (hasNothingFor(actor, found)) return { kind: "nothing_ready", task: taskOf(found.task) };
      }
      const claimed = await onTask(caller, "claim_step", selection, (draft, task) =>
        planClaim(draft, task, actor, request, token),
      );
      if (claimed.kind === "nothing_ready") idle.add(task_id);
      else idle.delete(task_id);
      return claimed;
    },
    updateStep(caller, update) {
      const { task_id, step_id } = update;
      const selection = { task_id, steps: [step_id], with_dependents: true };
      return onTask(caller, "update_step", selection, (draft, task) =>
        planStepUpdate(draft, task, caller.actor, update),
      );
    },
    complete(caller, completion) {
      const selection = { task_id: completion.task_id, counts: true };
      return onTask(caller, "complete", selection, (draft, task) =>
        planComplete(draft, task, completion),
      );
    },
    fail: (caller, ending) => end(caller, "fail", "failed", ending),
    cancel: (caller, ending) => end(caller, "cancel", "cancelled", ending),
    async board(caller, task_id) {
      await look(caller, "get", task_id);
      return (await reader.board(task_id)) ?? valueOf(unknownTask(task_id));
    },
    renew(claim, record) {
      return onClaim(claim, record, (draft, step) => {
        const lease = leaseFrom(draft);
        if (step.claim !== undefined)
          draft.putStep({ ...step, claim: { ...step.claim, ...lease } });
        return lease.lease_expires_at;
      });
    },
    async release(claim, how, record) {
      try {
        await onClaim(claim, record, (draft, step) => {
          if (how === "aborted") giveBack(draft, step, "its worker was stopped");
          else endClaim(draft, step, "released", "its worker ended without finishing it");
        });
      } catch (error) {
        if (!(error instanceof TaskRefused)) throw error;
      }
    },
  };

  function end(
    caller: TaskCaller,
    action: "fail" | "cancel",
    status: "failed" | "cancelled",
    ending: TaskEnding,
  ): Promise<TaskRecord> {
    const selection = { task_id: ending.task_id, steps: "all" } as const;
    return onTask(caller, action, selection, (draft, task) => planEnd(draft, task, status, ending));
  }

  /** Before anything is read: what lost workers held is ready again (TASK-4). */
  async function look(caller: TaskCaller, action: TaskAction, task_id: string): Promise<void> {
    const { actor, record } = caller;
    valueOf(mayAct(actor, action));
    const selection = { task_id, leases_until: clock.now() };
    const found = await storage.read(selection);
    if (found.task === undefined || !isVisibleTo(actor, found.task)) {
      valueOf(unknownTask(task_id));
    }
    if (found.steps.length === 0) return;
    await change(record, selection, (draft) => {
      loseLeases(draft);
      return { ok: true, value: undefined };
    });
  }

  async function onTask<Value>(
    { actor, record }: TaskCaller,
    action: TaskAction,
    selection: TaskSelection,
    plan: (draft: Draft, task: TaskRecord) => Outcome<Value>,
  ): Promise<Value> {
    valueOf(mayAct(actor, action));
    return change(record, selection, (draft) => {
      const task = draft.task();
      return task === undefined || !isVisibleTo(actor, task)
        ? unknownTask(selection.task_id)
        : plan(draft, task);
    });
  }

  async function onClaim<Value>(
    claim: HeldClaim,
    record: RecordTaskFact | undefined,
    plan: (draft: Draft, step: StepRecord) => Value,
  ): Promise<Value> {
    const { task_id, step_id, token } = claim;
    return change(record, { task_id, steps: [step_id] }, (draft) => {
      loseLeases(draft);
      const step = draft.step(step_id);
      if (step?.claim?.token === token) return { ok: true, value: plan(draft, step) };
      const now = step === undefined ? "not there any more" : `${step.status} now`;
      return refuse("claim_lost", `The claim on step ${step_id} is lost: the step is ${now}.`);
    });
  }

  async function change<Value>(
    record: RecordTaskFact | undefined,
    selection: TaskSelection,
    plan: (draft: Draft) => Outcome<Value>,
  ): Promise<Value> {
    const { outcome, facts } = await storage.change(selection, (found) => {
      // Asked for in the transaction: whoever waited for it must not judge leases by the time before.
      const draft = createDraft(found, clock.now(), rules);
      const planned = plan(draft);
      const answer: { outcome: Outcome<Value>; facts: readonly TaskFact[] } = {
        outcome: planned,
        facts: draft.facts,
      };
      return { answer, ...draft.writes() };
    });
    for (const { type, data } of facts) record?.(type, data);
    return valueOf(outcome);
  }

  async function withCounts(task_id: string): Promise<TaskWithCounts> {
    return (await reader.get(task_id)) ?? valueOf(unknownTask(task_id));
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
    mayAct(actor, "claim_step").ok &&
    isVisibleTo(actor, task) &&
    steps.length === 0
  );
}

/** Of the ready steps, those named to somebody who asked for one that is not. */
const READY_TOLD = 5;

function unknownTask(task_id: string): { readonly ok: false; readonly refusal: Refusal } {
  return refuse(
    "task_unknown",
    `There is no task ${task_id} for this run. An orchestrator finds its tasks with task_list; a worker has the one it was given.`,
  );
}

function valueOf<Value>(outcome: Outcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  throw new TaskRefused(outcome.refusal);
}
