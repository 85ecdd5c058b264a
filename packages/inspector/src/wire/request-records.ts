// Model requests: one row each, and all that was sent and received, in parts that are loaded as they are looked at.

import type { ModelUsage } from "@soong/agent";

export interface RequestRow {
  run_id: string;
  /** Counted from 1 in its run. */
  request: number;
  /** Of its first `model.started`: unique, and its place among calls. */
  seq: number;
  /** `compaction`: it was for the runtime. */
  purpose?: string;
  /** That was asked last. */
  model: string;
  status: "running" | "completed" | "failed" | "aborted";
  started_at: number;
  /** When the last attempt began, and its first piece came. */
  attempted_at: number;
  first_token_at?: number;
  ended_at?: number;
  attempts: number;
  /** From one model to the next, with why. */
  fallbacks?: readonly { from: string; to: string; reason: string }[];
  /** Why the answer ended, or what went wrong. */
  stop?: string;
  error?: string;
  calls?: number;
  usage?: ModelUsage;
  /** In units of the currency; null: not known. */
  cost?: number | null;
  currency?: string;
}

export interface RequestStory {
  session_id: string;
  row: RequestRow;
  sent: SentStory;
  attempts: readonly AttemptStory[];
}

export type SentStory =
  | { state: "not_recorded"; why: string }
  | {
      /** `exact`: proven by the digest of what was sent. */
      state: "exact" | "differs";
      settings: readonly (readonly [name: string, value: string])[];
      system: readonly SentPart[];
      tools: readonly SentPart[];
      /** The last ones; `earlier` are before them. */
      messages: readonly SentPart[];
      earlier: number;
      changes?: SentChanges;
    };

/** One text of a request. */
export interface SentPart {
  /** To load it by: `system:0`, `tools:3`, `messages:12`. */
  part: string;
  name: string;
  chars: number;
  /** Its first line. */
  head: string;
  /** As against the request before: omitted where it is the same. */
  change?: "added" | "changed";
}

/** Against the request of the run before it. */
export interface SentChanges {
  request: number;
  /** What is no longer sent, or differs. */
  removed: readonly string[];
  added: readonly string[];
  /** From the beginning on it is as before: a provider's cache can reuse so much. Estimated tokens. */
  same_tokens: number;
  all_tokens: number;
}

export interface AttemptStory {
  attempt: number;
  model: string;
  seq: number;
  text?: string;
  reasoning?: string;
  calls: readonly {
    tool_call_id?: string;
    name: string;
    arguments: string;
    is_partial?: boolean;
  }[];
  stop?: string;
  error?: string;
  usage?: ModelUsage;
  first_token_ms?: number;
  provider_data?: string;
  settings?: string;
}

export interface PartText {
  text: string;
}
