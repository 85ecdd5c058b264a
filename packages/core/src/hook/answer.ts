// Reads what a hook answered. Nothing unknown is let through: an answer that is not understood is a failed hook.

import { isContentBlock } from "../result/index.ts";
import { isRecord } from "@soong/schema";
import type { HookAnswers, HookEvent } from "./hook.ts";

type Kind = "text" | "boolean" | "object" | "blocks" | readonly string[];

const FIELDS: { [Event in HookEvent]: Record<string, Kind> } = {
  SessionStart: { context: "text" },
  UserPromptSubmit: { block: "boolean", reason: "text", context: "text" },
  PreToolUse: {
    decision: ["deny", "ask", "pass"],
    reason: "text",
    input: "object",
    context: "text",
    stop: "text",
  },
  PermissionRequest: { decision: ["deny", "pass"], reason: "text" },
  PostToolUse: { context: "text", replace: "blocks" },
  PostToolUseFailure: { context: "text", replace: "blocks" },
  Elicitation: { action: ["accept", "decline", "cancel", "pass"], content: "object" },
  ElicitationResult: {},
  Stop: { continue: "boolean", context: "text" },
  SessionEnd: {},
  SubagentStart: {},
  SubagentStop: {},
  PreCompact: {},
  Notification: {},
};

export type ReadAnswer<Event extends HookEvent> =
  | { ok: true; answer: HookAnswers[Event] }
  | { ok: false; message: string };

export function readAnswer<Event extends HookEvent>(
  event: Event,
  given: unknown,
): ReadAnswer<Event> {
  if (given === undefined || given === null) return { ok: true, answer: {} };
  if (typeof given !== "object" || Array.isArray(given)) {
    return {
      ok: false,
      message: `answered with a ${Array.isArray(given) ? "list" : typeof given}`,
    };
  }
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype !== Object.prototype && prototype !== null) {
    return { ok: false, message: "answered with something that is not a plain object" };
  }
  // A copy: a getter must not answer one thing now and another later.
  const answer: Record<string, unknown> = {};
  try {
    for (const [field, value] of Object.entries(given)) {
      if (value === undefined) continue;
      const kind = FIELDS[event][field];
      if (kind === undefined) {
        const known = Object.keys(FIELDS[event]).join(", ") || "nothing";
        return { ok: false, message: `answered "${field}"; ${event} takes ${known}` };
      }
      const problem = fieldProblem(kind, value);
      if (problem !== undefined) return { ok: false, message: `answered ${field} ${problem}` };
      answer[field] = typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value;
    }
  } catch (error) {
    const kind = error instanceof RangeError ? "nested too deeply" : "not JSON";
    return { ok: false, message: `answered with something that is ${kind}` };
  }
  return { ok: true, answer: answer as HookAnswers[Event] };
}

function fieldProblem(kind: Kind, value: unknown): string | undefined {
  switch (kind) {
    case "text":
      return typeof value === "string" ? undefined : "without text";
    case "boolean":
      return typeof value === "boolean" ? undefined : "without true or false";
    case "object":
      return isRecord(value) ? undefined : "without an object";
    case "blocks":
      if (typeof value === "string") return undefined;
      return Array.isArray(value) && value.length > 0 && value.every(isContentBlock)
        ? undefined
        : "without text or a list of content blocks";
    default:
      return kind.includes(value as string)
        ? undefined
        : `with ${JSON.stringify(value)}; it takes ${kind.join(", ")}`;
  }
}
