// What is known of one session: its row, its runs and lanes, its calls, its conversation, its tools.

import type { UsageTotal } from "@soong/agent";
import type {
  ArtifactRecord,
  ArtifactRef,
  CatalogEntry,
  ChainEntry,
  ContentBlock,
  Fact,
  FactLevel,
  JsonValue,
  NodeKind,
  PermissionRequest,
  Preview,
  ToolResult,
} from "@soong/core";

// What is kept, and which of it is live.

export interface SessionRow {
  session_id: string;
  title?: string;
  project?: string;
  created_at: string;
  updated_at: string;
  last_seq: number;
  /** The process that holds it now, where its socket answers. */
  live?: LiveSession;
  /** Omitted where this inspector cannot tell. */
  status?: SessionStatus;
  /** In a list of sessions, where this inspector can tell. */
  summary?: SessionSummary;
}

/** A session in short, without reading its journal. */
export interface SessionSummary {
  status: SessionStatus;
  /** Why it failed, in words, where that was recorded. */
  reason?: string;
  kind: SessionKind;
  /** Prompts, or calls that no model made. */
  turns: number;
  /** Of its newest request. */
  model?: string;
  /** In which its turns worked. */
  worked_ms: number;
  /** Of models, by all its runs. */
  usage: UsageTotal;
  /** Those that have ended. */
  calls: number;
  failed_calls: number;
  /** Names of the tools that were called. */
  tools: readonly string[];
  /** The step it was opened for, dispatched from another session. */
  worker_of?: { task_id: string; step_id: string };
}

export type SessionStatus =
  | "running"
  | "waiting_for_approval"
  | "interrupted"
  | "done"
  | "failed"
  /** Nothing was asked in it. */
  | "empty"
  /** The end of a run cannot be read: `soong verify` says why. */
  | "damaged";

export type SessionKind = "conversation" | "call" | "playground" | "gateway" | "worker";

export interface LiveSession {
  pid: number;
  /** The machine it is on, if that is another one. */
  host?: string;
  project: string;
  runs: readonly { run_id: string; agent_id: string; role: string; started_at: string }[];
  questions: number;
}

export interface SessionList {
  sessions: SessionRow[];
  /** More of them, older. */
  next?: string;
  /** When the last one that was looked at was used; omitted where all were. */
  searched_to?: string;
}

/** The conversation along the path that an agent continues from: what the model reads, oldest first. */
export interface Conversation {
  agent_id: string;
  items: ConversationItem[];
  /** How many older ones were omitted; ask with `before` = the first item's node_id. */
  older: number;
  /** These follow the node that was asked with; what is before it is as it was. */
  is_continued?: boolean;
}

export interface ConversationItem {
  node_id: string;
  run_id: string;
  kind: NodeKind;
  role: "user" | "assistant" | "tool" | "context";
  tool_call_id?: string;
  is_error?: boolean;
  /** Nothing was said before it. */
  is_first?: boolean;
  /** The model that wrote it. */
  model?: string;
  /** It was cut off. */
  is_unfinished?: boolean;
  /** What the model thought before it answered, where the provider shows it. */
  reasoning?: string;
  /** Calls that the model asked for in this message. */
  calls?: readonly { tool_call_id?: string; tool_name: string; summary?: string }[];
  /** Long ones are cut; `cut` says by how many characters. */
  content: readonly ContentBlock[];
  cut?: number;
}

/** A run as it is compared with another one. */
export interface RunRecord {
  session: SessionRow;
  run: RunRow;
  prompt: string;
  models: readonly string[];
  /** Its last text. */
  answer: string;
  calls: readonly RecordedCall[];
  /** Calls beyond those. */
  omitted: number;
}

export interface RecordedCall {
  tool_call_id: string;
  tool_name: string;
  /** As the model sent it. */
  input: string;
  summary?: string;
  outcome?: string;
  /** From its request to its end. */
  duration_ms?: number;
  decisions: readonly { by: Decided["by"]; decision: string }[];
}

export interface ArtifactList {
  artifacts: ArtifactRecord[];
}

/** A page of an artifact as text, in whole characters. Bytes that are no text come as `hex`. */
export interface ArtifactPage {
  artifact: ArtifactRecord;
  offset: number;
  /** Where the next page begins; omitted at the end. */
  next_offset?: number;
  /** Of the first line on this page, from 1; omitted for bytes. */
  line?: number;
  text?: string;
  hex?: string;
}

export interface ArtifactMatches {
  matches: { offset: number; line: number; text: string }[];
  /** There are more than were looked for. */
  is_cut: boolean;
}

/** The journal as a list: a row is one line, the whole fact is asked for by its seq. */
export interface FactRow {
  seq: number;
  time: string;
  type: string;
  level: FactLevel;
  run_id?: string;
  tool_call_id?: string;
  tool_name?: string;
  /** What it says, in a line. */
  text: string;
}

/** `total` facts in the session, or in the run; rows from `offset` on, counted from 0. */
export interface FactRows {
  total: number;
  offset: number;
  rows: FactRow[];
}

export interface WholeFact {
  fact: Fact;
}

// A run as lanes: one a call, with what it was doing when. Times are milliseconds since the epoch.

export type SpanKind =
  /** Asked for: being checked, normalised, prepared. */
  | "arriving"
  /** Ready, and held back by its siblings. */
  | "queued"
  /** For the user: a permission, or an elicitation. */
  | "waiting"
  | "executing"
  /** Ended, and not yet sent to the model: results are sent in call order. */
  | "holding";

/** `to` is null while it continues. */
export type Span = readonly [kind: SpanKind, from: number, to: number | null];

export type LaneState = SpanKind | "ended";

export interface Lane {
  tool_call_id: string;
  run_id: string;
  agent_id: string;
  tool_name: string;
  /** Of its `tool.requested`: unique, and the order of lanes. */
  seq: number;
  ended_seq?: number;
  /** A call made within another one. */
  parent_call_id?: string;
  state: LaneState;
  /** The status of its result. */
  outcome?: string;
  /** When its result was sent to the model. */
  yielded_at?: number;
  spans: readonly Span[];
  /** One line: the file, the command or the words it is for. */
  about?: string;
  /** One line: what came of it. */
  summary?: string;
}

export interface RunRow {
  run_id: string;
  agent_id: string;
  parent_run_id?: string;
  /** The call that started it, where it is a child's. */
  parent_call_id?: string;
  /** Of a child: sub_agent, fork, worker. */
  role?: string;
  /** Of a child: what it was started as. */
  agent_definition_id?: string;
  /** Its one call is the user's own: a file attached to the prompt that follows, or a call typed after this one. */
  own_call?: "attached" | "typed";
  mode?: string;
  title?: string;
  status: "queued" | "running" | "completed" | "failed" | "aborted";
  /** Why it ended so. */
  reason?: string;
  /** Of its first fact. */
  seq: number;
  last_seq: number;
  started_at: number;
  ended_at?: number;
  facts: number;
  calls: number;
  /** How often its surface was recorded: at its beginning, and with each change. */
  surfaces: number;
  usage?: Usage;
}

export interface Usage {
  requests: number;
  input_tokens?: number;
  output_tokens?: number;
  /** Null: a price is unknown. */
  cost: number | null;
  /** Of the cost. */
  currency?: string;
}

// All that is known of one call, put together from its facts.

export interface CallStory {
  session_id: string;
  lane: Lane;
  /** The name the model used, where it is another one. */
  native_name?: string;
  inputs: CallInputs;
  decisions: readonly Decided[];
  hooks: readonly HookRun[];
  /** What would be done, as it was shown to the user, or as the record describes it. */
  preview?: Preview;
  effects?: Readonly<Record<string, boolean>>;
  digest?: string;
  progress: readonly { at: number; text: string }[];
  result?: ToolResult;
  /** What the model reads. */
  model_view?: readonly ContentBlock[];
  artifacts: readonly ArtifactRef[];
  /** Cuts and hidden secrets, in words. */
  notes: readonly string[];
  /** Runs it started. */
  child_runs: readonly string[];
  /** Calls made within it. */
  child_calls: readonly string[];
  /** The seq of each of its facts. */
  facts: readonly number[];
}

/** SCHEMA-6. Those that are as the one before them say so instead of repeating it. */
export interface CallInputs {
  /** Verbatim. */
  model_input: string;
  observable_input: CallInput;
  permission_input: CallInput;
  call_input: CallInput;
}

export type CallInput =
  | { state: "same" }
  | { state: "changed"; value: JsonValue; changes: readonly InputChange[] }
  /** It ended before it got so far. */
  | { state: "never" };

export interface InputChange {
  /** A JSON pointer; "" is the whole. */
  path: string;
  from?: JsonValue;
  to?: JsonValue;
  /** Who changed it: a hook's id, `normalise`, or `schema` for the defaults and transforms of an author's schema. */
  by?: string;
}

export interface Decided {
  /** Of its fact. */
  seq: number;
  at: number;
  by: "policy" | "hook" | "user" | "no_one" | "grant";
  decision: string;
  reason?: string;
  chain?: readonly ChainEntry[];
  /** Where the user was asked. */
  request?: PermissionRequest;
  answered_by?: string;
  /** From the question to the answer. */
  waited_ms?: number;
  grant_id?: string;
}

export interface HookRun {
  hook: string;
  event: string;
  outcome: "running" | "completed" | "failed" | "denied";
  started_at: number;
  duration_ms?: number;
  /** What it said or did. */
  detail?: string;
}

// Which tools a run sees, why, and what showing them costs.

export interface SurfaceView {
  run_id: string;
  revision: number;
  role: string;
  mode: string;
  /** The name of the model profile it was made for. */
  profile: string;
  tools: readonly SurfaceTool[];
  /** Estimated tokens: of definitions sent in full, of the names of deferred ones, and what those would cost in full. */
  tokens: { loaded: number; deferred_names: number; deferred_in_full: number };
  /** Every time it changed: what, and by which fact. */
  revisions: readonly { revision: number; seq: number; changed: number }[];
}

export interface SurfaceTool extends CatalogEntry {
  /** Of its definition in full. */
  tokens: number;
}

export interface SurfaceMatches {
  query: string;
  /** Best first. `is_found_by_model`: it is deferred, so the model's search finds it at this place. */
  matches: readonly {
    tool_name: string;
    score: number;
    reasons: readonly string[];
    is_found_by_model: boolean;
  }[];
}
