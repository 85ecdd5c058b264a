// A step that a run on another machine has dispatched, worked on here: in a session of this process's own, below the policy of
// that run, with the tools and models of this machine (DIST-1).

import {
  messageOf,
  type Clock,
  type FactData,
  type IdSource,
  type OnUserAsked,
  type Policy,
  type Session,
} from "@soong/core";
import { describeEarlierAttempts, type StepRecord, type TaskCaller } from "@soong/tasks";
import {
  openConversation,
  type LoopLimits,
  type RunEnd,
  type ToolProvider,
} from "../loop/index.ts";
import type { Model } from "../model/index.ts";
import { createChildDeadline } from "./child-progress.ts";
import { buildChildPrompt, buildChildSystem } from "./child-task.ts";
import { describeWorkerTask, TASK_TOOLS } from "./dispatch-worker.ts";
import type { RemoteWork } from "./remote-workers.ts";
import {
  findDefinition,
  skipsMissingTools,
  startFailure,
  type AgentParts,
  type TaskParts,
} from "./run-child.ts";
import type { Assignment } from "./worker-pools.ts";

export type RecordTaskFact = NonNullable<TaskCaller["record"]>;

/** The step is claimed, and the claim is kept. */
export interface ClaimedWork {
  readonly work: RemoteWork;
  readonly assignment: Assignment;
  readonly title: string;
  readonly step: StepRecord;
  /** What the task said before there was a run to record it. */
  readonly facts: BufferedFacts;
}

/** What bounds the work: as the run that dispatched it has it on record. */
export interface WorkCeiling {
  readonly policy: Policy;
  /** Patterns of tools that the task of that run may not use. */
  readonly taskDenied: readonly string[] | undefined;
}

export interface WorkPlace {
  readonly session: Session;
  /** For a pool and a definition that name none. */
  readonly models: readonly [Model, ...Model[]];
  readonly limits: LoopLimits;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly toolProvider?: ToolProvider | undefined;
  readonly ceiling: WorkCeiling;
  /** What earlier attempts did, in whichever session that was. */
  readonly readCalls: TaskCaller["readCalls"];
  readonly signal: AbortSignal;
}

/** Facts about a task, kept until there is a run to record them, and dropped when it takes no more. */
export interface BufferedFacts {
  readonly record: RecordTaskFact;
  /** From now on they are recorded there. */
  to(record: RecordTaskFact): void;
}

export function bufferFacts(): BufferedFacts {
  const held: Parameters<RecordTaskFact>[] = [];
  let target: RecordTaskFact | undefined;
  return {
    record(...fact) {
      if (target === undefined) held.push(fact);
      else tryRecord(target, fact);
    },
    to(record) {
      target = record;
      for (const fact of held.splice(0)) tryRecord(record, fact);
    },
  };
}

function tryRecord(record: RecordTaskFact, fact: Parameters<RecordTaskFact>): void {
  try {
    record(...fact);
  } catch {
    // Its run has ended, or its journal takes no more, which the run itself notices.
  }
}

export async function workOnStep(
  parts: AgentParts,
  { keeper }: TaskParts,
  { work, assignment, title, step, facts }: ClaimedWork,
  place: WorkPlace,
): Promise<RunEnd> {
  const { session, limits, clock, ids, toolProvider, ceiling, signal } = place;
  const { agent_id, run_id } = assignment;
  const definition = findDefinition(parts.catalog, work.agent_definition_id, "worker");
  const before = await describeEarlierAttempts(step, place.readCalls);
  const task = {
    role: "worker",
    definition,
    task: describeWorkerTask(title, assignment, step, before),
    ...(work.instructions !== undefined && { context: work.instructions }),
  } as const;
  const stop = new AbortController();
  const timeoutMs = Math.min(definition.timeout_ms ?? parts.childTimeoutMs, parts.childTimeoutMs);
  const deadline = createChildDeadline(clock, timeoutMs, () => {
    stop.abort(`It did not end within ${timeoutMs} ms.`);
  });
  const { max_turns = limits.max_turns } = definition;
  const allowed = work.allowed_tools ?? definition.allowed_tools;
  const conversation = await openConversation({
    session,
    models: await findModels(parts, work.model ?? definition.model, place.models),
    system: buildChildSystem(parts.system ?? [], task),
    agent_definition_id: definition.id,
    clock,
    ids,
    limits: { ...limits, max_turns: Math.min(max_turns, limits.max_turns) },
    toolProvider,
    ...(parts.instructions !== undefined && { instructions: parts.instructions }),
    run: {
      agent_id,
      run_id,
      parent: { run_id: work.from.run_id, agent_id: work.from.agent_id, policy: ceiling.policy },
      role: "worker",
      ...(ceiling.taskDenied !== undefined && { taskDenied: ceiling.taskDenied }),
      ...(definition.mode !== undefined &&
        definition.mode !== "orchestrator" && { mode: definition.mode }),
      ...(definition.rules !== undefined && { policy: { rules: definition.rules } }),
      ...(allowed !== undefined && { allowedTools: [...new Set([...TASK_TOOLS, ...allowed])] }),
      skipMissingTools: skipsMissingTools(definition, allowed),
      ...(definition.suggested_tools !== undefined && {
        suggestedTools: definition.suggested_tools,
      }),
      onUserAsked: createPause(deadline),
    },
    runRegistry: {
      add(own) {
        parts.activeRuns.add(own);
        facts.to((type, data: FactData) => void own.run.recorder.record(type, data));
      },
      remove: (own) => parts.activeRuns.remove(own),
    },
  });
  // A worker that lost its step must stop: another one may have claimed it by now (TASK-4).
  const unwatch = keeper.watch(run_id, ({ step_id }, why) =>
    stop.abort(`It lost its claim on ${step_id}: ${why}`),
  );
  const ended = AbortSignal.any([stop.signal, signal]);
  const run = conversation.send(buildChildPrompt(task));
  const abort = (): void => void run.abort(messageOf(ended.reason));
  ended.addEventListener("abort", abort, { once: true });
  if (ended.aborted) abort();
  try {
    const end = await run.end;
    const isOwn = !ended.aborted;
    await keeper.leave(run_id, isOwn ? "ended" : "aborted", facts.record);
    return end;
  } finally {
    ended.removeEventListener("abort", abort);
    deadline.stop();
    unwatch();
    await conversation.close();
  }
}

/** The time of a user who is asked does not count. */
function createPause(deadline: ReturnType<typeof createChildDeadline>): OnUserAsked {
  const open = new Set<string>();
  return ({ tool_call_id, waits }) => {
    if (waits) open.add(tool_call_id);
    else open.delete(tool_call_id);
    if (open.size > 0) deadline.pause();
    else deadline.resume();
  };
}

async function findModels(
  { models }: AgentParts,
  reference: string | undefined,
  usual: readonly [Model, ...Model[]],
): Promise<readonly [Model, ...Model[]]> {
  if (reference === undefined) return usual;
  if (models === undefined) {
    throw startFailure("unknown_model", `The model ${reference} cannot be named here.`);
  }
  return models(reference);
}
