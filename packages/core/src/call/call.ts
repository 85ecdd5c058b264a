// One call in progress: what each stage found out about it, and how it can be ended from outside.

import type { JsonObject } from "@soong/schema";
import type { AnyHook } from "../hook/hook.ts";
import {
  beginWaiting,
  type ConversationNode,
  type FactCall,
  type GivenUp,
  type Waited,
} from "../journal/index.ts";
import type { Judgement, PermissionFacts } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { HandlerOutcome } from "../result/read-return.ts";
import type { CallClass } from "../schedule/schedule.ts";
import type {
  ContentBlock,
  Effects,
  PreparedPlan,
  Resource,
  Targets,
  ToolError,
  ToolResult,
  ToolStatus,
} from "../tool/index.ts";
import { CallRecord } from "./call-record.ts";
import type { AddedNode, CallRun, ToolCall } from "./host.ts";

/** How a call ends, before its result is made. */
export interface Ending {
  status: ToolStatus;
  outcome: HandlerOutcome;
  /** The handler was called. */
  executed: boolean;
  /** It passed hooks and permission and could not be planned: PostToolUseFailure fires for it (PIPE-9). */
  unplannable?: true;
  /** Refused on arrival, and it was to be a write: the calls after it must not run (SCHED-3). */
  stops?: boolean;
}

/** An end from outside: abort, interrupt, a sibling, an abandoned attempt. */
export interface Cancellation {
  status: Extract<ToolStatus, "aborted" | "cancelled" | "discarded" | "skipped">;
  error: ToolError;
  /** The call whose failure ended it. */
  cause?: string;
  /** Of an abort, as given: the `abort_reason` of its result. */
  reason?: string;
}

export interface HookVerdict {
  decision: "ask";
  reason: string;
  hook: string;
  unspelled?: true;
}

const UNKNOWN_EFFECTS: Effects = {
  read_only: false,
  concurrency_safe: false,
  destructive: true,
  open_world: true,
  repeatable: false,
};

const NO_NODES: readonly never[] = [];

/** Every field has its place from the start, so that all calls have one shape. */
export class Call implements FactCall {
  readonly run: CallRun;
  /** What stays of it. */
  readonly record: CallRecord;
  readonly tool_call_id: string;
  tool_name = "";
  readonly given: ToolCall;
  readonly nativeId: string | undefined;
  readonly index: number;
  /** The last node this call leaves in the conversation; allotted on arrival, so that order is call order. */
  readonly nodeId: string;
  readonly parentNodeId: string | undefined;

  // Acceptance
  tool: RegisteredTool | undefined = undefined;
  alias: string | undefined = undefined;
  /** What the handler will get; validated, normalised, and after every hook. */
  input: JsonObject = {};
  /** The input as JSON that would lead to it again; where it is not `input` itself. */
  observable: JsonObject | undefined = undefined;
  /** Something changed the input on its way: then it is recorded again where it is judged and used. */
  mutated = false;
  effects: Effects = UNKNOWN_EFFECTS;
  class: CallClass = "write";

  // Targets, hooks, permission
  targets: Targets | undefined = undefined;
  plan: PreparedPlan | undefined = undefined;
  /** Why there is no plan. It is not reported before the call has passed permission (PIPE-9). */
  planFailure: Ending | undefined = undefined;
  /** The PreToolUse hooks that have seen the input as it is now. */
  guardedBy: Set<AnyHook> | undefined = undefined;
  guardRounds = 0;
  hookVerdict: HookVerdict | undefined = undefined;
  /** Every guard that ran, with its answer. */
  hookResults: JsonObject[] | undefined = undefined;
  /** Context from hooks for the model, by hook. */
  hookContext: Map<string, string> | undefined = undefined;
  /** The last judgement, and what it was made on. */
  judged: Judged | undefined = undefined;
  /** The decision, and the seq of the fact that records it. */
  decision: string | undefined = undefined;
  decisionSeq: number | undefined = undefined;

  // Execution
  phase: "arrived" | "queued" | "running" | "ended" = "arrived";
  /** `tool.started` is on record. */
  started = false;
  startedAt: number | undefined = undefined;
  cancellation: Cancellation | undefined = undefined;
  /** Notified once when the call is cancelled; the code that waits for the call sets itself here. */
  waiter: { cancelled(): void } | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #abortReason: Error | undefined = undefined;

  // Its place in the turn
  /** Set while it waits in the queue, or to continue after an approval. */
  start: (() => void) | undefined = undefined;
  resume: (() => void) | undefined = undefined;
  /** How many approvals it waits for. */
  waits = 0;
  waitsSince = 0;
  /** Time spent waiting for approvals; it counts for nothing (PIPE-6). */
  waitedMs = 0;

  // Its end
  result: ToolResult | undefined = undefined;
  /** What the model reads, where a hook replaced it. */
  replaced: ContentBlock[] | undefined = undefined;
  /** What it adds to the conversation beside its result. */
  added: readonly AddedNode[] = NO_NODES;
  /** Something may be different now, inside or outside: no later event makes this undone. */
  happened = false;
  /** When it ended, where it is put on record later: after which fact, and as which of its turn. */
  ended: { readonly after: number; readonly nth: number } | undefined = undefined;
  /** On record, for good: until then its attempt may still be abandoned. */
  delivered = false;
  /** Its end is on record. */
  committed = false;

  constructor(
    run: CallRun,
    tool_call_id: string,
    given: ToolCall,
    index = 0,
    nodeId = "",
    parentNodeId?: string,
  ) {
    this.run = run;
    this.tool_call_id = tool_call_id;
    this.given = given;
    this.nativeId = typeof given.id === "string" && given.id !== "" ? given.id : undefined;
    this.index = index;
    this.nodeId = nodeId;
    this.parentNodeId = parentNodeId;
    this.record = new CallRecord(tool_call_id, run.identity, nodeId, parentNodeId);
  }

  /** What it left in the conversation. */
  get nodes(): readonly ConversationNode[] {
    return this.committed ? this.record.nodes : NO_NODES;
  }

  /** Made on first use: most handlers never look at it, and making one costs more than the rest of a call. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  abort(message: string): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = new Error(message);
    this.#controller?.abort(this.#abortReason);
  }

  cancel(cancellation: Cancellation): void {
    if (this.phase === "ended" || this.cancellation !== undefined) return;
    this.cancellation = cancellation;
    // The reason alone: a tool that aborts another run for it adds there that it was aborted.
    this.abort(cancellation.reason ?? cancellation.error.message);
    this.waiter?.cancelled();
  }
}

/** A call whose tool is known and available. */
export type AcceptedCall = Call & { tool: RegisteredTool };

export interface Judged {
  readonly facts: PermissionFacts;
  readonly judgement: Judgement;
}

/** How the stages of a call act on the turn it is part of. */
export interface TurnControl {
  /**
   * Waits for the user: no slot is held, no clock runs (PERM-13, PIPE-6). Settles when there is an answer and the call
   * may continue.
   */
  waitForUser<T>(call: Call, answer: Promise<T>): Promise<T>;
  /** The class of the call has changed; settles when it may continue as that. */
  reclassify(call: Call): Promise<void>;
  /** A hook ended the run. */
  stopRun(reason: string, hook: string): void;
}

/** What the call would touch, as far as is known. */
export function listResources({ plan, targets }: Call): readonly Resource[] {
  return (plan ?? targets)?.resources ?? NO_RESOURCES;
}

const NO_RESOURCES: readonly Resource[] = [];

/** Waits for foreign code as long as it may take (Infinity: without a timer), or until the call is cancelled. */
export function withinCall<T>(
  call: Call,
  work: () => T | PromiseLike<T>,
  ms = call.run.config.tools.default_timeout_ms,
): Promise<Waited<T> | GivenUp> {
  const limit = Number.isFinite(ms) ? ms : undefined;
  const { done, giveUp } = beginWaiting(call.run.clock, limit, work);
  call.waiter = { cancelled: giveUp };
  if (call.cancellation !== undefined) giveUp();
  return done;
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

/** Records what nothing depends on: each later call and record says what is wrong with the journal. */
export function tryToRecord(record: () => void): void {
  try {
    record();
  } catch {
    // As above.
  }
}
