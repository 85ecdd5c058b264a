// What is on record of a child: what it was started with, what came of it, and the facts of its parent that say so.

import type { ConversationNode, FactData, FactType, ToolContext } from "@soong/core";
import type { RunEnd, ActiveRun } from "../loop/index.ts";
import type { Model } from "../model/index.ts";
import type { ChildEntry } from "./child-registry.ts";
import type { ChildProgress } from "./child-progress.ts";
import type { ChildTask } from "./child-prompt.ts";
import {
  extractFindings,
  extractSummary,
  type ChildResult,
  type ChildStatus,
} from "./child-result.ts";

export interface ChildStart extends ChildTask {
  readonly agent_id: string;
  readonly run_id: string;
  /** Default: the tools of the role (SURF-4). */
  readonly allowedTools?: readonly string[];
  readonly model?: string;
  /** The conversation a fork continues, root first. */
  readonly history?: readonly ConversationNode[];
  readonly timeoutMs: number;
  /** Further data of its facts, of a worker. */
  readonly about?: Pick<FactData<"agent.child.created">, "pool" | "worker" | "task_id" | "step_id">;
  /** Once its run has begun. */
  begun?(): void;
  /** What ends it beside its caller and its time, from the start on. Returns the way out. */
  watch?(stop: (why: string) => void): () => void;
}

/** Why it was ended from outside. */
export interface Stop {
  readonly status: "timed_out" | "cancelled";
  readonly message: string;
}

/** The facts of the run that started it, about the call that did. */
export function recordChildCreated(
  active: ActiveRun,
  context: ToolContext,
  start: ChildStart,
  child: ActiveRun,
  models: readonly Model[],
): void {
  recordForCall(
    active,
    context,
    "agent.child.created",
    buildCreatedData(active, start, child, models),
  );
}

export function recordChildEnded(
  active: ActiveRun,
  context: ToolContext,
  start: ChildStart,
  result: ChildResult,
): void {
  try {
    recordForCall(active, context, END_FACTS[result.status], buildEndedData(start, result));
  } catch {
    // The session's journal is broken or closed, which the caller notices itself.
  }
}

type ChildEndType = `agent.child.${"completed" | "failed" | "cancelled"}`;

const END_FACTS: Record<ChildStatus, ChildEndType> = {
  completed: "agent.child.completed",
  failed: "agent.child.failed",
  timed_out: "agent.child.failed",
  cancelled: "agent.child.cancelled",
};

export function buildChildResult(
  start: ChildStart,
  end: RunEnd,
  answer: string,
  stop: Stop | undefined,
  story: ChildProgress,
): ChildResult {
  const { agent_id, run_id, role, definition, expected } = start;
  const output = end.reason === "completed" ? expected?.read(answer) : undefined;
  const status = getChildStatus(end, stop);
  const misfit = output?.ok === false ? output.why : undefined;
  const { code = status, message = "" } = end.error ?? {};
  const error =
    misfit === undefined
      ? { code: stop?.status ?? code, message: stop?.message ?? message }
      : { code: "unexpected_output", message: `its answer has not the form asked for: ${misfit}` };
  const isWell = status === "completed" && misfit === undefined;
  return {
    status: isWell || misfit === undefined ? status : "failed",
    summary: extractSummary(answer),
    findings: extractFindings(answer),
    artifacts: story.artifacts(),
    usage: end.usage,
    agent_id,
    run_id,
    agent_definition_id: definition.id,
    role,
    reason: end.reason,
    turns: end.turns,
    ...(output?.ok === true ? { output: output.output } : {}),
    ...(isWell ? {} : { error }),
  };
}

function getChildStatus({ reason, error }: RunEnd, stop: Stop | undefined): ChildStatus {
  if (reason === "completed") return "completed";
  const isAborted = reason === "aborted_streaming" || reason === "aborted_tools";
  if (!isAborted || error?.code === "stopped_by_hook") return "failed";
  return stop?.status ?? "cancelled";
}

const MOST_TASK_CHARS = 1_000;
/** Its own facts have all of them. */
const MOST_TOOLS = 100;

export function createChildEntry(
  active: ActiveRun,
  start: ChildStart,
  waiting_for: ReadonlySet<string>,
): ChildEntry {
  const { agent_id, run_id, definition, role, task } = start;
  return {
    agent_id,
    run_id,
    parent_run_id: active.run.identity.run_id,
    agent_definition_id: definition.id,
    role,
    task: shortenTask(active, task),
    started_at: new Date(active.clock.now()).toISOString(),
    status: "running",
    lines: [],
    waiting_for,
  };
}

/** Redacted as a whole: half a secret is not recognised (REDACT-1). */
function shortenTask({ run }: ActiveRun, task: string): string {
  return run.redactor.text(task).slice(0, MOST_TASK_CHARS);
}

function buildCreatedData(
  active: ActiveRun,
  { agent_id, run_id, definition, role, task, timeoutMs, history, about }: ChildStart,
  { run }: ActiveRun,
  models: readonly Model[],
): FactData<"agent.child.created"> {
  return {
    child_agent_id: agent_id,
    child_run_id: run_id,
    agent_definition_id: definition.id,
    role,
    mode: run.surface.mode,
    task: shortenTask(active, task),
    tools: run.surface.loaded.slice(0, MOST_TOOLS).map(({ name }) => name),
    models: models.map(({ id }) => id),
    timeout_ms: timeoutMs,
    ...(history === undefined ? {} : { inherited_nodes: history.length }),
    ...about,
  };
}

function buildEndedData({ about }: ChildStart, result: ChildResult): FactData<ChildEndType> {
  const { agent_id, run_id, artifacts, output: _output, ...told } = result;
  return {
    child_agent_id: agent_id,
    child_run_id: run_id,
    ...told,
    artifacts: artifacts.map(({ artifact_id }) => artifact_id),
    ...about,
  };
}

function recordForCall<T extends FactType>(
  active: ActiveRun,
  context: ToolContext,
  type: T,
  data: FactData<T>,
): void {
  const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
  active.run.recorder.record(type, data, call);
}
