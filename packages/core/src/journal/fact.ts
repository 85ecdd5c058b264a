// One line of the journal (EVENT-1, EVENT-2).

import type { JsonObject, JsonValue } from "../schema/index.ts";
import type { ToolStatus } from "../tool/index.ts";

export type FactType =
  | "session.created"
  | `run.${"queued" | "started" | "completed" | "failed" | "aborted"}`
  | "context.resolved"
  | `context.compaction.${"started" | "completed" | "failed"}`
  /** `data.agent_id` goes on from `data.node_id`: a rewind, or the change to another branch. */
  | "context.rewound"
  | `routing.${"decided" | "fallback"}`
  | `model.${"started" | "delta" | "completed" | "failed"}`
  | "tool.catalog.resolved"
  | `tool.${"requested" | "validated" | "queued" | "started" | "progress" | "late" | "yielded"}`
  | TerminalFactType
  | "tool.deferred.loaded"
  | "input.mutated"
  | `hook.${"started" | "completed" | "failed" | "denied"}`
  | `permission.${"evaluated" | "requested" | "resolved" | "failed"}`
  | `grant.${"created" | "revoked"}`
  | "artifact.created"
  /** `data.path` is as it was before the call again (CODE-6). Of the session, not of a run. */
  | "change.undone"
  | `output.${"truncated" | "redacted"}`
  | `mcp.server.${"connected" | "failed" | "tools_changed" | "elicitation" | "host_request"}`
  | `agent.child.${"created" | "completed" | "failed" | "cancelled"}`
  | "worker.dispatched"
  | `task.${string}`
  | `memory.${"candidate" | "recalled" | "written"}`
  | "skill.loaded"
  | "error";

export type TerminalFactType =
  `tool.${"completed" | "failed" | "denied" | "skipped" | "cancelled" | "discarded"}`;

export type FactLevel = "debug" | "info" | "warn" | "error";

/** Order is `seq`, never the clock. Fields that do not apply are left out. */
export interface Fact {
  /** Unique within the session. */
  id: string;
  seq: number;
  run_seq?: number;
  type: FactType;
  time: string;
  level: FactLevel;
  session_id: string;
  run_id?: string;
  agent_id?: string;
  parent_run_id?: string;
  parent_agent_id?: string;
  tool_call_id?: string;
  tool_name?: string;
  data: FactData;
  /** Of what was committed with this fact, which is the last of its entry. Set by a durable journal. */
  nodes?: readonly NodeDigest[];
  /** The hash of the fact before this one (EVENT-6). Set by a durable journal. */
  prev_hash?: string;
}

export interface NodeDigest {
  node_id: string;
  sha256: string;
}

/** Any record of ours is JSON; a typed interface has no index signature to say so. */
export type FactData = JsonObject | { readonly [key: string]: JsonValue | object | undefined };

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

export function isTerminalFact(type: FactType): type is TerminalFactType {
  return TERMINAL_TYPES.has(type);
}
