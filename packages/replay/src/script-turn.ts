// What came of a call from beside it, in the words of a script: a hook that refused it or stopped the run, a sibling that
// ended it, and which calls had ended when an answer broke off.

import type { FactData, TerminalFactType, ToolResult, Fact, JsonObject } from "@soong/core";
import {
  type ScriptCall,
  type ScriptFailure,
  type ScriptFailureKind,
  type ScriptGuard,
  type ScriptTurn,
  type Expectation,
  isRetryable,
  type ModelError,
  type StopReason,
} from "@soong/agent";
import { omitUndefined, isJsonObject } from "@soong/schema";
import { readStop } from "./recorded-call.ts";

type Failure = ScriptFailure | ScriptFailureKind;

export class CarriedGuards {
  readonly #ids = new Map<ScriptCall, string>();
  readonly #guards = new Map<string, ScriptGuard>();
  readonly #started = new Set<string>();
  /** Their handlers had ended while their answer still came. */
  readonly #endedEarly = new Set<string>();
  readonly #named = new Set<string>();
  readonly #stopped = new Set<string>();
  #stopper: string | undefined;

  /** Remembers which call of the script a recorded one is. */
  add(call: ScriptCall, tool_call_id: string): ScriptCall {
    this.#ids.set(call, tool_call_id);
    return call;
  }

  start(tool_call_id: string): void {
    this.#started.add(tool_call_id);
  }

  deny(tool_call_id: string, data: FactData<"hook.denied">): void {
    const stop = readStop(data);
    if (stop !== undefined) this.#stopper ??= tool_call_id;
    this.#guards.set(tool_call_id, stop === undefined ? { deny: data.reason } : { stop });
  }

  /** A hook's stop ended it, before its hook is on record. */
  stop(tool_call_id: string): void {
    this.#stopped.add(tool_call_id);
  }

  end(tool_call_id: string, data: FactData<TerminalFactType>): void {
    const cause = readCause(data);
    if (cause !== undefined) this.#holdUntil(tool_call_id, cause);
    // Discarded after it had ended, or not discarded although its answer was.
    const hasEnded = data.ended !== undefined || data.result.status !== "discarded";
    if (hasEnded && this.#started.has(tool_call_id)) this.#endedEarly.add(tool_call_id);
  }

  /** The failure of an answer, once those of its calls have ended that had. */
  breakAfter(call_ids: readonly string[], error: Failure | undefined): Failure | undefined {
    const until = call_ids.filter((id) => this.#endedEarly.has(id) && !this.#guards.has(id));
    if (error === undefined || until.length === 0) return error;
    for (const id of until) this.#named.add(id);
    return { ...(typeof error === "string" ? { kind: error } : error), until };
  }

  addTo(turns: readonly ScriptTurn[]): ScriptTurn[] {
    const stopper = this.#stopper;
    if (stopper !== undefined) for (const id of this.#stopped) this.#holdUntil(id, stopper);
    return turns.map((turn) => {
      if (turn.parts === undefined) {
        return turn.calls ? { ...turn, calls: turn.calls.map((one) => this.#guard(one)) } : turn;
      }
      const parts = turn.parts.map((part) =>
        "call" in part ? { ...part, call: this.#guard(part.call) } : part,
      );
      return { ...turn, parts };
    });
  }

  #holdUntil(tool_call_id: string, cause: string): void {
    this.#guards.set(tool_call_id, { until: cause });
    this.#named.add(cause);
  }

  #guard(call: ScriptCall): ScriptCall {
    const id = this.#ids.get(call);
    if (id === undefined) return call;
    const guard = this.#guards.get(id);
    if (guard !== undefined) return { ...call, id, guard };
    return this.#named.has(id) ? { ...call, id } : call;
  }
}

/** The sibling whose failure cancelled it. Records of earlier versions name it in the message only. */
function readCause({ result: { error }, cancelled_by }: FactData<TerminalFactType>) {
  if (error?.code !== "sibling_failed") return undefined;
  return cancelled_by ?? CAUSE.exec(error.message)?.[1];
}

const CAUSE = /^Cancelled, because .* \((\S+)\), which ran beside it, failed\.$/;

// What can be expected of a result when a script is run again: how it ended, and a line of it that is not of that one day,
// place or run.

export function expectResult(
  result: number,
  recorded: ToolResult,
  isReplaced: boolean,
): Expectation {
  const status = recorded.is_error ? "error" : "ok";
  // Its text names another call by its id, which is of that run.
  const namesCall = recorded.error?.code === "skipped_after_failure";
  const line = isReplaced || namesCall ? undefined : stableLine(recorded);
  return { result, status, ...omitUndefined({ contains: line }) };
}

/** From outside the run, or by a crash: a script is not stopped there. */
export function wasStopped({ status, error }: ToolResult): boolean {
  return (
    STOPPED.has(status) || error?.code === "interrupted" || error?.code === "runtime_restarted"
  );
}

const STOPPED: ReadonlySet<string> = new Set(["aborted", "cancelled", "discarded", "unknown"]);

const MAX_CHARS = 120;
/** Times, durations, sizes that grow, ids, hashes, absolute paths, and placeholders of secrets. */
const OF_ONE_RUN =
  /\d{4,}|\d+(?:\.\d+)? ?m?s\b|\d\d?:\d\d|[0-9a-f]{8,}|(?:^|[\s"'(=])[/~\\]|[A-Za-z]:\\|_[0-9a-z]{8,}|\b(?:agent|call|node|run)_\d|\[redacted|…/;

/** The first line that says something; undefined where none is known to be stable. */
function stableLine({ content }: ToolResult): string | undefined {
  const [block] = content;
  if (block?.type !== "text") return undefined;
  const line = block.text.split("\n").find((one) => one.trim() !== "");
  const isPlain = line !== undefined && line.length <= MAX_CHARS && !OF_ONE_RUN.test(line);
  return isPlain ? line.trim() : undefined;
}

// How a model failed, or stopped, in the words of a script, which has fewer of them. What it cannot say is noted.

interface FailureInScript {
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

// A recorded call in the words of a script: its input where that says the same, and else the text as the model sent it.

export interface SentCall {
  readonly fact: Fact<"tool.requested">;
  /** Its arguments, where the fact has only their beginning and end. */
  whole?: string;
}

/** `recorded`: its arguments as the answer's node has them, whole and without secrets. */
export function toScriptCall({ fact, whole }: SentCall, recorded: string | undefined): ScriptCall {
  const { model_input, alias, native_call_id } = fact.data;
  const tool = alias ?? fact.tool_name ?? "";
  // A repeated id is replaced by the runtime, and is again.
  const id = omitUndefined({ id: native_call_id });
  const given = recorded ?? whole ?? model_input;
  if (isJsonObject(given)) return { tool, input: given, ...id };
  const text = typeof given === "string" ? given : "";
  const input = parseInput(text);
  return input === undefined ? { tool, input_text: text, ...id } : { tool, input, ...id };
}

/** Undefined where JSON would not be written as it was: a name given twice, a number of many digits, no JSON at all. */
function parseInput(text: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isSame = isJsonObject(value) && JSON.stringify(value) === withoutSpace(text);
  return isSame ? (value as JsonObject) : undefined;
}

function withoutSpace(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
}
