// One call on its way: what is known of it so far, and how it can be ended from outside.

import {
  beginWaiting,
  isThenable,
  type Clock,
  type FactCall,
  type GivenUp,
  type Waited,
} from "../journal/index.ts";
import type { AnyHook } from "../hook/index.ts";
import type { Judgement, PermissionFacts } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import type { HandlerOutcome } from "../result/index.ts";
import type { CallClass } from "../schedule/index.ts";
import type { JsonObject, JsonValue } from "../schema/index.ts";
import type {
  Effects,
  PreparedPlan,
  Resource,
  Targets,
  ToolError,
  ToolStatus,
} from "../tool/index.ts";
import { createAbort, type CallAbort } from "./signal.ts";

/** A call as a model or a program makes it. */
export interface ToolCall {
  /** The provider's; a missing or repeated one is replaced. */
  id?: string;
  /** Wire name, canonical name or alias. */
  name: string;
  /** JSON text as it came, or a value. */
  arguments: unknown;
  /** The call whose handler makes this one: it is no model's, and no turn of the conversation. */
  within?: string;
  /** Made by the runtime itself: it is no model's and no turn of the conversation, and no one is asked about it. */
  made_by?: "runtime";
}

/** How a call ends, before its result is made. */
export interface Ending {
  status: ToolStatus;
  outcome: HandlerOutcome;
  /** The handler was called. */
  executed: boolean;
  /** It passed hooks and permission and could not be planned: PostToolUseFailure fires for it (PIPE-9). */
  unplannable?: true;
}

/** An end from outside: abort, interrupt, a sibling, an abandoned attempt. */
export interface Cancellation {
  status: Extract<ToolStatus, "aborted" | "cancelled" | "discarded" | "skipped">;
  error: ToolError;
  /** The call whose failure ended it. */
  cause?: string;
  /** Of an abort, as it was given: what `abort_reason` says wherever it stands. */
  reason?: string;
}

export interface HookVerdict {
  decision: "ask";
  reason: string;
  hook: string;
  unspelled?: true;
}

export interface Call extends FactCall {
  tool_name: string;
  readonly index: number;
  readonly given: ToolCall;
  readonly nativeId: string | undefined;
  tool: RegisteredTool | undefined;
  alias: string | undefined;
  /** What the handler will get; validated, normalised, and after every hook. */
  input: JsonObject;
  /** The input as JSON that would lead to it again; where it is not `input` itself. */
  observable: JsonObject | undefined;
  effects: Effects;
  class: CallClass;
  targets: Targets | undefined;
  plan: PreparedPlan | undefined;
  /** Why there is no plan. It is not reported before the call has passed permission (PIPE-9). */
  planFailure: Ending | undefined;
  /** The last judgement, and what it was made on. */
  judged: { facts: PermissionFacts; judgement: Judgement } | undefined;
  /** The PreToolUse hooks that have seen the input as it is now. */
  guardedBy: Set<AnyHook> | undefined;
  guardRounds: number;
  hookVerdict: HookVerdict | undefined;
  /** Something changed the input on its way: then it is recorded again where it is judged and used. */
  mutated: boolean;
  /** Every guard that was asked, with what it said. */
  hookResults: JsonObject[] | undefined;
  /** What hooks want the model to know, by hook. */
  hookContext: Map<string, string> | undefined;
  /** What was decided, and the fact that says so. */
  decision: string | undefined;
  decisionRef: string | undefined;
  phase: "arrived" | "queued" | "running" | "ended";
  cancellation: Cancellation | undefined;
  /** Told once when the call is cancelled; whoever waits for the call sets itself here. */
  waiter: { cancelled(): void } | undefined;
  /** Made when somebody looks at the signal, or the call is cancelled. */
  abort: CallAbort | undefined;
  /** `tool.started` is on record. */
  started: boolean;
  /** Time spent waiting for people; counts for nothing (PIPE-6). */
  waitedMs: number;
  startedAt: number | undefined;
  /** The last node this call leaves in the conversation; allotted on arrival, so that order is call order. */
  readonly nodeId: string;
  readonly parentNodeId: string | undefined;
}

const UNKNOWN_EFFECTS: Effects = {
  read_only: false,
  concurrency_safe: false,
  destructive: true,
  open_world: true,
  repeatable: false,
};

export function createCall(
  about: Pick<Call, "tool_call_id" | "index" | "given" | "nativeId" | "nodeId" | "parentNodeId">,
): Call {
  return {
    tool_call_id: about.tool_call_id,
    tool_name: "",
    index: about.index,
    given: about.given,
    nativeId: about.nativeId,
    tool: undefined,
    alias: undefined,
    input: {},
    observable: undefined,
    effects: UNKNOWN_EFFECTS,
    class: "write",
    targets: undefined,
    plan: undefined,
    planFailure: undefined,
    judged: undefined,
    guardedBy: undefined,
    guardRounds: 0,
    hookVerdict: undefined,
    mutated: false,
    hookResults: undefined,
    hookContext: undefined,
    decision: undefined,
    decisionRef: undefined,
    phase: "arrived",
    cancellation: undefined,
    waiter: undefined,
    abort: undefined,
    started: false,
    waitedMs: 0,
    startedAt: undefined,
    nodeId: about.nodeId,
    parentNodeId: about.parentNodeId,
  };
}

/** The tool of a call that got past its arrival. */
export function toolOf(call: Call): RegisteredTool {
  if (call.tool === undefined) throw new Error(`call ${call.tool_call_id} has no tool`);
  return call.tool;
}

/** What the call would touch, as far as is known. */
export function resourcesOf({ plan, targets }: Call): readonly Resource[] {
  return (plan ?? targets)?.resources ?? NO_RESOURCES;
}

const NO_RESOURCES: readonly Resource[] = [];

export function abortOf(call: Call): CallAbort {
  return (call.abort ??= createAbort());
}

export function cancelCall(call: Call, cancellation: Cancellation): void {
  if (call.phase === "ended" || call.cancellation !== undefined) return;
  call.cancellation = cancellation;
  abortOf(call).abort(new Error(cancellation.error.message));
  call.waiter?.cancelled();
}

/** Waits for foreign code as long as it may take, or until the call is cancelled. */
export function withinCall<T>(
  clock: Clock,
  call: Call,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Waited<T> | GivenUp | Promise<Waited<T> | GivenUp> {
  const waiting = beginWaiting(clock, ms, work);
  if (!isThenable(waiting.done)) return waiting.done;
  call.waiter = { cancelled: waiting.giveUp };
  if (call.cancellation !== undefined) waiting.giveUp();
  return waiting.done;
}

/** Waits for something of ours that the call's cancellation may overtake. */
export function unlessCancelled<T>(
  call: Call,
  pending: Promise<T>,
): Promise<{ cancelled: true } | { cancelled: false; value: T }> {
  if (call.cancellation !== undefined) {
    void pending.catch(() => {});
    return Promise.resolve({ cancelled: true });
  }
  return new Promise((resolve, reject) => {
    call.waiter = { cancelled: () => resolve({ cancelled: true }) };
    pending.then((value) => resolve({ cancelled: false, value }), reject);
  });
}

export function ending(
  status: ToolStatus,
  error: ToolError,
  content: HandlerOutcome["content"] = [],
): Ending {
  return { status, executed: false, outcome: { status: "failed", content, artifacts: [], error } };
}

export function cancelledEnding(call: Call): Ending {
  const { status, error } = call.cancellation as Cancellation;
  return ending(status, error);
}

/** Which top-level fields differ; enough to tell a person what a mutation did. */
export function changedFields(before: JsonObject, after: JsonObject): string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) => !sameJson(before[field], after[field])).toSorted();
}

export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a === undefined || b === undefined || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key)) return false;
    if (!sameJson((a as JsonObject)[key], (b as JsonObject)[key])) return false;
  }
  return true;
}
