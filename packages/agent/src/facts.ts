// The facts of models, context, child agents, skills and memory, by type. What old journals lack is optional.

import type { Mode, Role } from "@soong/core";
import type { ChildResult } from "./child/child-result.ts";
import type { ReceivedData, SentTexts, UsageTotal } from "./loop/index.ts";
import type { Cost, ModelError, ModelUsage, StopReason } from "./model/index.ts";

declare module "@soong/core" {
  interface FactPayloads extends AgentFactPayloads {}

  interface RunEndData {
    usage?: UsageTotal;
    /** Of a run that drives a task. */
    task_id?: string;
    end?: string;
  }
}

export interface AgentFactPayloads {
  "context.resolved": ContextData;
  "context.compaction.started": CompactionData;
  "context.compaction.completed": CompactionData & {
    summary_preview: string;
    node_id: string;
    kept_from?: string;
    continuation: object;
    tokens_after: number;
  };
  "context.compaction.failed": CompactionData & { message: string };
  "routing.decided": RoutingData;
  "routing.fallback": {
    request: number;
    from: string;
    to: string;
    reason: string;
    message: string;
    attempts: number;
  };
  "model.started": ModelStartData;
  "model.delta": ModelRequestData & { chars: number; text: string };
  "model.completed": ModelEndData & { stop: StopReason; calls?: number };
  /** `wrote`: calls of the answer changed something, so it is not requested again (LOOP-3). */
  "model.failed": ModelEndData & { error: ModelError; wrote?: boolean };
  "agent.child.created": ChildCreatedData;
  "agent.child.completed": ChildEndData;
  "agent.child.failed": ChildEndData;
  "agent.child.cancelled": ChildEndData;
  "worker.dispatched": {
    pool: string;
    worker: string;
    task_id: string;
    step_id?: string;
    agent_id: string;
    run_id: string;
  };
  "skill.loaded": {
    skill: string;
    file: string;
    sha256: string;
    chars: number;
    tools: readonly object[];
  };
  "memory.candidate": {
    candidate_id: string;
    scope: string;
    project?: string;
    tags: readonly string[];
    sha256: string;
    chars: number;
  };
  "memory.recalled": RecalledData;
  /** The external memory is asked, before the first request. */
  "memory.recall.started": { at: "start"; tool_name: string };
  /** It is not, because a rule denies the call or requires approval for it. */
  "memory.recall.skipped": { at: "start"; tool_name: string; reason: string };
  /** In the log of the memory, whose writer has no session. */
  "memory.written": { memory_id: string; scope?: string; candidate_id?: string };
}

/** What one model request is put together from (CTX-1). */
export interface ContextData {
  request: number;
  /** The request before it: each list names what was added to the one of that request (`deriveContext`). Absent: all of it. */
  since?: number;
  system: readonly { ref: string; from: string; chars: number }[];
  memory_refs: readonly object[];
  knowledge_refs: readonly object[];
  source_refs: readonly object[];
  instruction_refs: readonly object[];
  file_refs: readonly object[];
  workspace_refs: readonly object[];
  browser_refs: readonly object[];
  session_refs: readonly object[];
  skill_refs: readonly object[];
  agent_refs: readonly object[];
  board: { chars: number };
  /** What it has of the conversation. */
  history: { units: number; nodes: number; first_node_id?: string; last_node_id?: string };
  policy: object;
  tools: { loaded: number; deferred: number; excluded: number };
  omissions: readonly object[];
  missing: readonly object[];
  /** Absent in older records. */
  sent?: SentTexts;
  /** `tools`: of the definitions of tools; absent in older records. */
  tokens: { estimated: number; tools?: number };
}

export interface CompactionData {
  trigger: string;
  model: string;
  tokens_before: number;
  affected_turns: number;
  first_node_id?: string;
  last_node_id?: string;
}

export interface RoutingData {
  request: number;
  requested: string;
  requirements: { tools: number; estimated_tokens: number };
  candidates: readonly { model: string; excluded?: string }[];
  selected: string;
  fallback_chain: readonly string[];
  budget: object;
  rate_limit: object;
  reason: string;
}

export interface ModelRequestData {
  /** Counted from 1 in a run; `attempt` in a request. */
  request: number;
  attempt: number;
  model: string;
  /** `compaction`: it has no turn of its own. */
  purpose?: string;
}

export interface ModelStartData extends ModelRequestData {
  node_id?: string;
  parent_node_id?: string;
  /** Of the request as it was sent (`rebuildRequest`); absent in older records. */
  digest?: string;
  /** Where `context.resolved` says nothing of the request. */
  sent?: SentTexts;
  /** What the model's adapter adds to each request. */
  settings?: object;
}

export interface ModelEndData extends ModelRequestData {
  node_id?: string;
  usage?: ModelUsage;
  cost?: Cost | null;
  /** From the request to the first piece of the answer; absent where none came. */
  first_token_ms?: number | undefined;
  received?: ReceivedData | undefined;
}

/** Of a child that is a worker. */
export interface WorkerData {
  pool?: string;
  worker?: string;
  task_id?: string;
  step_id?: string;
  /** Of a worker that is a process of its own: where its facts are. */
  child_session_id?: string;
}

export interface ChildCreatedData extends WorkerData {
  child_agent_id: string;
  child_run_id: string;
  agent_definition_id: string;
  role: Role;
  mode: Mode;
  task: string;
  tools: readonly string[];
  models: readonly string[];
  timeout_ms: number;
  inherited_nodes?: number;
}

export interface ChildEndData
  extends WorkerData, Omit<ChildResult, "agent_id" | "run_id" | "artifacts" | "output"> {
  child_agent_id: string;
  child_run_id: string;
  artifacts: readonly string[];
  /** Of its own session, if it has one, when its run had ended. */
  head_hash?: string;
}

export interface RecalledData {
  /** Before the first request. */
  at?: "start";
  query?: string;
  scope?: string;
  memories?: readonly { id: string; score: number }[];
  in_the_conversation?: readonly string[];
  considered?: number;
  left_out: number;
  tokens?: number;
  /** The tool of an external memory, and its call. */
  tool_name?: string;
  recalled_by?: string;
}
