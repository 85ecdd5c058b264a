// All that is known of one call, put together from its facts.

import type {
  ArtifactRef,
  ChainEntry,
  ContentBlock,
  JsonValue,
  PermissionRequest,
  Preview,
  ToolResult,
} from "@soong/core";
import type { Lane } from "./timeline.ts";

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
