// What is known of a home beside its sessions: what waits for the user, what is new, tools to try, tasks, servers.

import type { RequestRow } from "./request-records.ts";
import type {
  ChainEntry,
  Decision,
  ElicitationRequest,
  Explanation,
  JsonObject,
  JsonValue,
  Permission,
  PermissionRequest,
  RuleOrigin,
  ToolGrant,
  ToolResult,
} from "@soong/core";
import type { RuleTyped } from "./policy-records.ts";
import type { SessionRow, Lane, RunRow } from "./session-records.ts";

// What waits for the user in the live sessions, and what was granted in them.

export type Question = QuestionParts &
  (
    | { kind: "permission"; request: PermissionRequest; always?: readonly AlwaysOffer[] }
    | {
        kind: "elicitation";
        request: ElicitationRequest & { tool_name: string; tool_call_id: string };
      }
  );

interface QuestionParts {
  question_id: string;
  session_id: string;
  /** Of the process that asks. */
  pid: number;
  project: string;
  asked_at: string;
}

/** A rule that "always" would add to the user's config, as the lines that would be written. */
export interface AlwaysOffer {
  /** Goes with the answer; omitted for what a yes covers by default. */
  scope?: "exact" | "prefix" | "program";
  project: string;
  everywhere: string;
}

export type AnswerGiven =
  | {
      decision: "allow_once" | "allow_for_session" | "deny";
      reason?: string;
      /** Which of the choices of the request. */
      scope?: "exact" | "prefix" | "program";
      /** The rule that was shown is kept in the user's config. */
      always?: { where: "project" | "everywhere" };
    }
  | { action: "accept" | "decline" | "cancel"; content?: JsonObject };

export interface GrantRow extends ToolGrant {
  /** In words. */
  covers: string;
  pid: number;
  project: string;
}

// What is new since the page last asked. One request at a time: it is held open until there is news, or a while is over.
// A slow page asks later and misses nothing; no one waits for it (EVENT-4).

export interface Changes {
  /** Sent back with the next request. */
  cursor: string;
  /** All there are now; omitted when nothing of it changed. */
  home?: HomeState;
  /** Of the requested session; omitted when nothing of it changed. */
  session?: SessionChanges;
  /** Of the requested session: what is new in the answers that are being written. */
  texts?: AnswerText[];
  /** Why the requested session cannot be read, though there is one. */
  session_problem?: string;
}

/** A piece of an answer that is being written. */
export interface AnswerText {
  run_id: string;
  /** The node that will hold the answer; another one than before is another answer. */
  node_id: string;
  /** Of what came before, so many characters stay; `text` follows them. */
  offset: number;
  text: string;
}

export interface HomeState {
  /** Those used last. */
  sessions: SessionRow[];
  questions: Question[];
  grants: GrantRow[];
  /** Runtimes that are there and do not answer, each as a sentence. */
  problems: string[];
  /** Counts up when a task changed. */
  tasks_version: number;
}

export interface SessionChanges {
  session: SessionRow;
  /** Read so far; less than `session.last_seq` while a long journal is being read. */
  read_seq: number;
  /** New ones, and those that changed. */
  runs: RunRow[];
  lanes: Lane[];
  requests: RequestRow[];
  /** There is more right now: ask again at once. */
  more: boolean;
}

// Trying a tool: which there are, what would be decided about a call, and the call itself, through the whole pipeline.

export interface PlaygroundTools {
  /** Where its calls happen. */
  cwd: string;
  tools: readonly PlaygroundTool[];
  /** Servers that could not be asked, each as a sentence. */
  problems: readonly string[];
}

export interface PlaygroundTool {
  tool_name: string;
  description: string;
  permission: Permission;
  input_schema: JsonObject;
  tags: readonly string[];
}

export interface PlaygroundCall {
  tool_name: string;
  /** As the user filled it in: also what is wrong goes through the pipeline. */
  input: JsonValue;
}

export interface Explained {
  explanation: Explanation;
  /** In words: what a yes for the session would cover. */
  session_scope?: string;
  /** Of a tool that is refused because no rule leaves it on offer: the rule that does so. */
  blocked?: readonly ChainEntry[];
}

/** The call has begun; the page sees it in its session, and its questions like those of any other. */
export interface Called {
  session_id: string;
  run_id: string;
}

export interface CallEnded extends Called {
  tool_call_id: string;
  result: ToolResult;
}

/** What was called on the playground of any inspector of this home, newest first. */
export interface PlaygroundHistory {
  calls: readonly PastCall[];
}

export interface PastCall extends Called {
  tool_call_id: string;
  tool_name: string;
  called_at: string;
  /** Of its result; absent while it runs, or was never recorded. */
  status?: string;
  /** As recorded; absent where it was cut, or is not JSON. */
  input?: JsonValue;
}

// Runs that are started from the page, as `soong run` starts them.

/** What a run may be started with. */
export interface RunChoices {
  /** Where the inspector was started, then the projects of stored sessions. */
  projects: readonly string[];
  /** Names for the field of the model; others may be typed. */
  models: readonly string[];
  /** The model of a run that names none; absent where there is none. */
  default_model?: string;
  modes: readonly string[];
  agents: readonly { agent_id: string; description: string }[];
  /** Config or agent files that cannot be used, each as a sentence. */
  problems: readonly string[];
}

export interface RunAsked {
  prompt: string;
  /** The session to continue; without one a new session begins. */
  session_id?: string;
  /** An own prompt of that session: the run begins before it, in its place. The old branch stays. */
  instead_of?: string;
  /** Of a new session. Default: where the inspector was started. */
  project?: string;
  /** Default: as the config says. */
  model?: string;
  mode?: string;
  agent?: string;
}

/** `is_queued`: the run was under way already, and reads the prompt with its next request. */
export interface RunBegun {
  session_id: string;
  run_id: string;
  is_queued?: boolean;
}

// Tasks and their steps, as far as the page draws them.

export interface TaskRow {
  task_id: string;
  session_id: string;
  title: string;
  goal: string;
  status: string;
  created_at: string;
  updated_at: string;
  ended_at?: string;
  reason?: string;
  summary?: string;
  /** Steps by status. */
  counts: Readonly<Record<string, number>>;
}

export interface StepRow {
  step_id: string;
  title: string;
  instructions: string;
  status: string;
  depends_on: readonly string[];
  attempts: number;
  max_attempts: number;
  /** Who works on it. */
  claimed_by?: string;
  lease_until?: string;
  note?: string;
  reason?: string;
  summary?: string;
  failure?: string;
  started_at?: string;
  ended_at?: string;
}

export interface TaskList {
  tasks: TaskRow[];
}

export interface TaskGraph {
  task: TaskRow;
  steps: StepRow[];
}

// MCP servers of the home, and definitions they changed after they were allowed (MCP-7).

export interface ServerList {
  servers: ServerRow[];
}

export interface ServerRow {
  server_id: string;
  state: string;
  message?: string;
  transport: "stdio" | "http";
  /** Where it is configured: `FILE:LINE`. */
  place: string;
  /** What it says of itself, once connected. */
  protocol_version?: string;
  server_info?: { name: string; version: string };
  /** In its own order, without those that are held back. */
  tools: readonly ServerToolRow[];
  /** Why others of its tools are not offered. */
  excluded: readonly { tool_name: string; reason: string; detail: string }[];
  /** Held back until they are accepted as they are now. */
  changes: readonly ChangedTool[];
}

export interface ServerToolRow {
  tool_name: string;
  /** Its beginning, in one line. */
  description?: string;
  /** `unpinned`: no call of it was allowed yet, so the first one pins its definition (MCP-7). */
  pin: "unpinned" | "same" | "changed";
}

/** A tool as its server defined it when it was last connected. */
export interface ServerTool extends Omit<ServerToolRow, "description"> {
  description?: string;
  input_schema: JsonObject;
  output_schema?: JsonObject;
  hash: string;
}

/** The end of what a server wrote to its standard error. */
export interface ServerLog {
  file: string;
  text: string;
  /** Bytes of the file before that. */
  omitted: number;
}

export interface ChangedTool {
  tool_name: string;
  /** Of the definition as it is now: what is accepted is what was shown. */
  hash: string;
  /** A line each. */
  changes: readonly string[];
}

export interface Accepted {
  accepted: readonly ChangedTool[];
}

// The decisions of a kept run under another config.

/** Either another config or a rule that is added to the recorded ones. */
export interface WhatIfAsked {
  run_id: string;
  rule?: RuleTyped;
  /** A path; relative ones from where the inspector was started. */
  config_file?: string;
}

export interface WhatIf {
  session_id: string;
  run_id: string;
  /** The config it was compared with; omitted for a rule. */
  config_file?: string;
  /** Why the run would not begin at all; then the rest is empty. */
  refused?: string;
  surface: readonly { tool_name: string; was: string; now: string; reason?: string }[];
  calls: readonly {
    tool_call_id: string;
    tool_name: string;
    seq: number;
    was: Verdict;
    now: Verdict;
  }[];
  unchanged: number;
}

export interface Verdict {
  decision: Decision;
  layer: string;
  rule: string;
  reason: string;
  origin?: RuleOrigin;
}
