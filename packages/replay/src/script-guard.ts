// What came of a call from beside it, in the words of a script: a hook that refused it or stopped the run, a sibling that
// ended it, and which calls had ended when an answer broke off.

import type { FactData, TerminalFactType } from "@soong/core";
import type {
  ScriptCall,
  ScriptFailure,
  ScriptFailureKind,
  ScriptGuard,
  ScriptPart,
  ScriptTurn,
} from "@soong/agent";
import { readStop } from "./recorded-call.ts";

export interface CarriedGuards {
  /** Remembers which call of the script a recorded one is. */
  readonly add: (call: ScriptCall, tool_call_id: string) => ScriptCall;
  start(tool_call_id: string): void;
  deny(tool_call_id: string, data: FactData<"hook.denied">): void;
  /** A hook's stop ended it, before its hook is on record. */
  stop(tool_call_id: string): void;
  end(tool_call_id: string, data: FactData<TerminalFactType>): void;
  /** The failure of an answer, once those of its calls have ended that had. */
  breakAfter(call_ids: readonly string[], error: Failure | undefined): Failure | undefined;
  addTo(turns: readonly ScriptTurn[]): ScriptTurn[];
}

type Failure = ScriptFailure | ScriptFailureKind;

export function createCarriedGuards(): CarriedGuards {
  const ids = new Map<ScriptCall, string>();
  const guards = new Map<string, ScriptGuard>();
  const started = new Set<string>();
  /** Their handlers had ended while their answer still came. */
  const endedEarly = new Set<string>();
  const named = new Set<string>();
  const stopped = new Set<string>();
  let stopper: string | undefined;

  return {
    add(call, tool_call_id) {
      ids.set(call, tool_call_id);
      return call;
    },
    start: (tool_call_id) => void started.add(tool_call_id),
    deny(tool_call_id, data) {
      const stop = readStop(data);
      if (stop !== undefined) stopper ??= tool_call_id;
      guards.set(tool_call_id, stop === undefined ? { deny: data.reason } : { stop });
    },
    stop: (tool_call_id) => void stopped.add(tool_call_id),
    end(tool_call_id, data) {
      const cause = readCause(data);
      if (cause !== undefined) holdUntil(tool_call_id, cause);
      // Discarded after it had ended, or not discarded although its answer was.
      const hasEnded = data.ended !== undefined || data.result.status !== "discarded";
      if (hasEnded && started.has(tool_call_id)) endedEarly.add(tool_call_id);
    },
    breakAfter(call_ids, error) {
      const until = call_ids.filter((id) => endedEarly.has(id) && !guards.has(id));
      if (error === undefined || until.length === 0) return error;
      for (const id of until) named.add(id);
      return { ...(typeof error === "string" ? { kind: error } : error), until };
    },
    addTo(turns) {
      for (const id of stopped) if (stopper !== undefined) holdUntil(id, stopper);
      return turns.map(addToTurn);
    },
  };

  function holdUntil(tool_call_id: string, cause: string): void {
    guards.set(tool_call_id, { until: cause });
    named.add(cause);
  }

  function addToTurn(turn: ScriptTurn): ScriptTurn {
    if (turn.parts !== undefined) return { ...turn, parts: turn.parts.map(addToPart) };
    return turn.calls === undefined ? turn : { ...turn, calls: turn.calls.map(withGuard) };
  }

  function addToPart(part: ScriptPart): ScriptPart {
    return "call" in part ? { ...part, call: withGuard(part.call) } : part;
  }

  function withGuard(call: ScriptCall): ScriptCall {
    const id = ids.get(call);
    if (id === undefined) return call;
    const guard = guards.get(id);
    if (guard !== undefined) return { ...call, id, guard };
    return named.has(id) ? { ...call, id } : call;
  }
}

/** The sibling whose failure cancelled it. Records of earlier versions name it in the message only. */
function readCause({ result: { error }, cancelled_by }: FactData<TerminalFactType>) {
  if (error?.code !== "sibling_failed") return undefined;
  return cancelled_by ?? CAUSE.exec(error.message)?.[1];
}

const CAUSE = /^Cancelled, because .* \((\S+)\), which ran beside it, failed\.$/;
