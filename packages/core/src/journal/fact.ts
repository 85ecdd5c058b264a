// One line of the journal (EVENT-1, EVENT-2), and one node of the conversation tree beside it (STORE-2).

import type { JsonObject } from "@soong/schema";
import type { ContentBlock, ToolStatus } from "../tool/index.ts";

/**
 * What each type of fact carries. Every package adds its own types where it writes them:
 * `declare module "@soong/core" { interface FactPayloads { "thing.happened": { … } } }`.
 * Stored for ever: a field may be added as optional and is never renamed or removed.
 */
export interface FactPayloads {}

export type FactType = keyof FactPayloads;

export type TerminalFactType =
  `tool.${"completed" | "failed" | "denied" | "skipped" | "cancelled" | "discarded"}`;

export type FactLevel = "debug" | "info" | "warn" | "error";

/** One type of fact, or any: `fact.type === "tool.started"` narrows `fact.data`. */
export type Fact<T extends FactType = FactType> = { [K in T]: FactOf<K> }[T];

/** Order is `seq`, never the clock. Fields that do not apply are absent. */
interface FactOf<T extends FactType> {
  /** Unique within the session. */
  id: string;
  seq: number;
  run_seq?: number;
  type: T;
  time: string;
  level: FactLevel;
  session_id: string;
  run_id?: string;
  agent_id?: string;
  parent_run_id?: string;
  parent_agent_id?: string;
  tool_call_id?: string;
  tool_name?: string;
  data: FactPayloads[T];
  /** Of what was committed with this fact, which is the last of its entry. Set by a durable journal. */
  nodes?: readonly NodeDigest[];
  /** The hash of the fact before this one (EVENT-6). Set by a durable journal. */
  prev_hash?: string;
}

export interface NodeDigest {
  node_id: string;
  sha256: string;
}

/** A fact before it is recorded. */
export type FactContent<T extends FactType = FactType> = {
  [K in T]: { readonly type: K; readonly data: FactPayloads[K]; readonly level?: FactLevel };
}[T];

/** What a fact of any type carries. */
export type FactData<T extends FactType = FactType> = FactPayloads[T];

const TERMINAL: Record<ToolStatus, TerminalFactType> = {
  succeeded: "tool.completed",
  partial: "tool.completed",
  failed: "tool.failed",
  timed_out: "tool.failed",
  aborted: "tool.failed",
  unknown: "tool.failed",
  denied: "tool.denied",
  rejected: "tool.denied",
  skipped: "tool.skipped",
  cancelled: "tool.cancelled",
  discarded: "tool.discarded",
};

/** The terminal fact of a call that ended in this status (RESULT-3). */
export function terminalFactType(status: ToolStatus): TerminalFactType {
  return TERMINAL[status];
}

const TERMINAL_TYPES: ReadonlySet<string> = new Set(Object.values(TERMINAL));

/** The one fact that ends a call, with its result. */
export function isTerminalFact(fact: Fact): fact is Fact<TerminalFactType> {
  return TERMINAL_TYPES.has(fact.type);
}

export type NodeKind =
  | "message"
  | "tool_result"
  | "skill_context"
  | "memory_context"
  | "instruction_context"
  | "plan_instruction"
  | "task_instruction"
  | "child_result"
  | "compaction"
  | "hook_context";

export interface ConversationNode {
  node_id: string;
  /** Parents may be committed after their children: calls end in any order, the path keeps call order. */
  parent_id?: string;
  session_id: string;
  run_id: string;
  agent_id: string;
  kind: NodeKind;
  tool_call_id?: string;
  /** What the model reads. */
  content: ContentBlock[];
  is_error?: boolean;
  data?: JsonObject;
}
