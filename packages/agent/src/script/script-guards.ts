// What a script says of calls beside its answers: guards that stop, refuse or hold one, and which calls have ended. It
// reaches the runtime as hooks of the model, and only of the tools that are concerned.

import { defineHook, type AnyHook, type Clock, type HookAnswers } from "@soong/core";
import { inTime } from "@soong/platform";
import type {
  Script,
  ScriptCall,
  ScriptFailure,
  ScriptGuard,
  ScriptPart,
  ScriptStop,
  ScriptTurn,
} from "./script.ts";

export interface ScriptGuards {
  /** Empty where the script says nothing of the kind. */
  readonly hooks: readonly AnyHook[];
  readonly ended: (call_ids: readonly string[], signal: AbortSignal) => Promise<void>;
  /** The runtime has taken the call. */
  readonly sent: (call_id: string) => void;
}

export function scriptGuards(script: Script, clock: Clock): ScriptGuards {
  const lists = [script.turns, ...Object.values(script.agents ?? {}).flat()];
  const parts = lists.flat().flatMap((turn: ScriptTurn) => turnParts(turn));
  const calls = parts.flatMap((part): ScriptCall[] => (part.type === "call" ? [part.call] : []));
  const guards = new Map<string, ScriptGuard>();
  const awaited = new Set(
    parts.flatMap((part) => (part.type === "error" ? (part.error.until ?? []) : [])),
  );
  /** Whose end holds which calls: it must not end before they are there, or it would end without them. */
  const held = new Map<string, { id: string; taken: Moment }[]>();
  for (const { id, guard } of calls) {
    if (id === undefined || guard === undefined) continue;
    guards.set(id, guard);
    if (!("until" in guard)) continue;
    awaited.add(guard.until);
    held.set(guard.until, [...(held.get(guard.until) ?? []), { id, taken: createMoment() }]);
  }
  const ends = new Map([...awaited].map((id) => [id, createMoment()]));
  const toolsOf = (ids: { has(id: string): boolean }): string[] => [
    ...new Set(calls.flatMap(({ id, tool }) => (id !== undefined && ids.has(id) ? [tool] : []))),
  ];
  const observer = {
    id: "script",
    run: ({ tool_call_id }: { tool_call_id: string }) => {
      // Hooks run before a call has ended: those who wait for that continue after it.
      const end = ends.get(tool_call_id);
      if (end !== undefined) clock.after(0, end.reached);
      return {};
    },
  };
  const guard = {
    id: "script",
    event: "PreToolUse" as const,
    timeout_ms: HOLD_MS,
    async run({ tool_call_id }: { tool_call_id: string }): Promise<HookAnswers["PreToolUse"]> {
      const said = guards.get(tool_call_id);
      if (said === undefined) {
        await Promise.all((held.get(tool_call_id) ?? []).map(({ taken }) => taken.promise));
        return {};
      }
      if ("stop" in said) return { stop: said.stop };
      if ("deny" in said) return { decision: "deny", reason: said.deny };
      await ends.get(said.until)?.promise;
      return {};
    },
  };
  return {
    hooks: [
      ...toolsOf({ has: (id) => guards.has(id) || held.has(id) }).map((tool) =>
        defineHook({ ...guard, tool }),
      ),
      ...toolsOf(awaited).flatMap((tool) => [
        defineHook({ ...observer, event: "PostToolUse", tool }),
        defineHook({ ...observer, event: "PostToolUseFailure", tool }),
      ]),
    ],
    async ended(call_ids, signal) {
      const all = Promise.all(call_ids.flatMap((id) => ends.get(id)?.promise ?? []));
      await inTime(all, { signal });
    },
    sent(call_id) {
      for (const { id, taken } of [...held.values()].flat()) if (id === call_id) taken.reached();
    },
  };
}

/** As long as a tool may take by default; a call that is held for longer requires approval. */
const HOLD_MS = 120_000;

interface Moment {
  readonly promise: Promise<void>;
  readonly reached: () => void;
}

function createMoment(): Moment {
  let reached = (): void => {};
  const promise = new Promise<void>((resolve) => {
    reached = resolve;
  });
  return { promise, reached };
}

// A turn as the stream it makes: one list of parts in order, each with the time since the one before.

type TurnPart =
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
