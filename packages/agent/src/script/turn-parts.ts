// A turn as the stream it makes: one list of parts in order, each with the time since the one before.

import type { ScriptCall, ScriptFailure, ScriptPart, ScriptStop, ScriptTurn } from "./script.ts";

export type TurnPart =
  | { readonly type: "text"; readonly text: string; readonly after_ms: number }
  | { readonly type: "call"; readonly call: ScriptCall; readonly after_ms: number }
  | { readonly type: "error"; readonly error: ScriptFailure; readonly after_ms: number };

export function turnParts(turn: ScriptTurn): TurnPart[] {
  return (turn.parts ?? partsOfPlain(turn)).map(turnPart);
}

function partsOfPlain(turn: Exclude<ScriptTurn, { parts: readonly ScriptPart[] }>): ScriptPart[] {
  const parts: ScriptPart[] = [];
  if (turn.text !== undefined) parts.push({ text: turn.text });
  for (const call of turn.calls ?? []) parts.push({ call });
  if (turn.error !== undefined) parts.push({ error: turn.error });
  return parts;
}

function turnPart(part: ScriptPart): TurnPart {
  if ("text" in part) return { type: "text", text: part.text, after_ms: part.after_ms ?? 0 };
  if ("call" in part) {
    const { call } = part;
    return { type: "call", call, after_ms: part.after_ms ?? call.after_ms ?? 0 };
  }
  const error = typeof part.error === "string" ? { kind: part.error } : part.error;
  return { type: "error", error, after_ms: part.after_ms ?? error.after_ms ?? 0 };
}

export function resolveStop(turn: ScriptTurn, parts: readonly TurnPart[]): ScriptStop {
  const hasCalls = parts.some(({ type }) => type === "call");
  return turn.stop ?? (hasCalls ? "tool_use" : "end_turn");
}
