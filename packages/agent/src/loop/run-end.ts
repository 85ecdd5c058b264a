// How a run of the loop ends (LOOP-1), as its caller receives it and as its last fact says.

import type { SurfaceProblem } from "@soong/core";
import type { UsageTotal } from "./usage.ts";

export type EndReason =
  | "completed"
  | "max_turns"
  | "aborted_streaming"
  | "aborted_tools"
  | "prompt_too_long"
  | "max_output_tokens"
  | "failed";

export interface RunEnd {
  readonly reason: EndReason;
  /** The text of the model's last answer and nothing else (LOOP-4). */
  readonly answer: string;
  /** Absent when the run has completed. */
  readonly error?: LoopError;
  /** With that of the runs it started. */
  readonly usage: UsageTotal;
  /** Model requests. */
  readonly turns: number;
  /** Input that came in too late for any request: send it again. */
  readonly unheard?: readonly string[];
}

export interface LoopError {
  /** The kind of the model's error, or ours: `journal_unavailable`, `prompt_blocked`, `stopped_by_hook` … */
  readonly code: string;
  /** For the user: what happened and what to do. */
  readonly message: string;
  /** What a run was refused for, one by one. */
  readonly problems?: readonly SurfaceProblem[];
}

/** An end on its way, before the run's figures are added. */
export interface Ending {
  readonly reason: EndReason;
  readonly error?: LoopError;
}

export function endWith(reason: EndReason, code: string, message: string): Ending {
  return { reason, error: { code, message } };
}

/** The fact that ends the run. */
export function toEndFact(reason: EndReason): "completed" | "failed" | "aborted" {
  if (reason === "completed") return "completed";
  return reason === "aborted_streaming" || reason === "aborted_tools" ? "aborted" : "failed";
}
