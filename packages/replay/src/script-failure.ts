// How a model failed, or stopped, in the words of a script, which has fewer of them. What it cannot say is noted.

import {
  isRetryable,
  type ModelError,
  type ScriptFailure,
  type ScriptFailureKind,
  type ScriptTurn,
  type StopReason,
} from "@soong/agent";

export interface FailureInScript {
  readonly error?: ScriptFailure | ScriptFailureKind;
  readonly note?: string;
}

export function toScriptFailure(error: ModelError | undefined): FailureInScript {
  if (error === undefined || error.kind === "aborted") return {};
  const { kind, retry_after_ms } = error;
  if (kind === "rate_limited") {
    return { error: retry_after_ms === undefined ? kind : { kind, retry_after_ms } };
  }
  if (kind === "overloaded" || kind === "disconnect") return { error: kind };
  const why = isRetryable(error) ? "is tried again in the same way" : "was not tried again";
  return {
    error: "disconnect",
    note: `A request failed with ${kind}, which a script cannot say: it fails with disconnect there, and the recorded one ${why}.`,
  };
}

export function toScriptStop(stop: StopReason | undefined): {
  stop?: NonNullable<ScriptTurn["stop"]>;
  note?: string;
} {
  if (stop === "max_tokens") return { stop };
  if (stop === undefined || stop === "end_turn" || stop === "tool_use") return {};
  return {
    note: `An answer stopped with ${stop}, which a script cannot say: it ends there.`,
  };
}
