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
  /** One line: what it was asked, or what came of it. */
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
