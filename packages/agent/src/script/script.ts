// What a script says, in the words of the file: the same shape in YAML, in JSON and in code (SCRIPT).

import type { JsonObject } from "@soong/core";

export interface Script {
  /** The main agent's: one entry a model request, also across its runs. */
  readonly turns: readonly ScriptTurn[];
  /** Children, by agent definition id: one list of turns a start. */
  readonly agents?: Readonly<Record<string, readonly (readonly ScriptTurn[])[]>>;
}

export type ScriptTurn = PlainTurn | ExactTurn;

/** Its text first, then its calls, then the error it ends with. */
export interface PlainTurn {
  readonly expect?: readonly Expectation[];
  readonly text?: string;
  readonly calls?: readonly ScriptCall[];
  readonly error?: ScriptFailure | ScriptFailureKind;
  /** Default: follows from the calls. */
  readonly stop?: ScriptStop;
  readonly parts?: never;
}

/** What is streamed, in exactly this order. */
export interface ExactTurn {
  readonly expect?: readonly Expectation[];
  readonly parts: readonly ScriptPart[];
  readonly stop?: ScriptStop;
  readonly text?: never;
  readonly calls?: never;
  readonly error?: never;
}

export type ScriptPart =
  | { readonly text: string; readonly after_ms?: number }
  | { readonly call: ScriptCall; readonly after_ms?: number }
  | { readonly error: ScriptFailure | ScriptFailureKind; readonly after_ms?: number };

export interface ScriptCall {
  /** The canonical name; one without a dot is sent unchanged. */
  readonly tool: string;
  /** Default: `{}`. */
  readonly input?: JsonObject;
  /** Sent unchanged, in place of `input`: it need not be JSON. */
  readonly input_text?: string;
  readonly id?: string;
  /** What a guard says of this call, which needs an `id` then. */
  readonly guard?: ScriptGuard;
  /** Since the part before. */
  readonly after_ms?: number;
}

/** A guard of a script can only refuse or wait: it never lets through what the policy does not. */
export type ScriptGuard =
  /** The run ends here. */
  | { readonly stop: string }
  | { readonly deny: string }
  /** It does not start before the call of this id has ended. */
  | { readonly until: string };

export interface ScriptFailure {
  readonly kind: ScriptFailureKind;
  readonly after_ms?: number;
  /** Only with `rate_limited`. */
  readonly retry_after_ms?: number;
  /** Not before the calls of these ids have ended. */
  readonly until?: readonly string[];
}

export type ScriptFailureKind = (typeof FAILURE_KINDS)[number];
export type ScriptStop = (typeof STOPS)[number];

export const FAILURE_KINDS = ["overloaded", "disconnect", "rate_limited"] as const;
export const STOPS = ["tool_use", "end_turn", "max_tokens"] as const;

/** A check on what the model was sent; a miss fails the run. */
export type Expectation =
  | ResultExpectation
  | { readonly last_user: TextExpectation }
  | { readonly system: TextExpectation }
  /** Canonical names that must be offered. */
  | { readonly tools: readonly string[] }
  | { readonly not_tools: readonly string[] };

/** On one result of the last tool message, counted from 0. */
export interface ResultExpectation extends TextExpectation {
  readonly result: number;
  readonly status?: "ok" | "error";
}

export interface TextExpectation {
  readonly contains?: string;
  readonly not_contains?: string;
  /** A regular expression. */
  readonly matches?: string;
}
