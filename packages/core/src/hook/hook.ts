// Hooks as an author writes them (HOOK-1, HOOK-2, HOOK-6): what each event tells and what may be answered.

import type { JsonObject, JsonValue } from "@soong/schema";
import type {
  ContentBlock,
  ElicitationAnswer,
  ElicitationRequest,
  NamePattern,
  ToolResult,
} from "../tool/index.ts";

export interface HookPayloads {
  SessionStart: { session_id: string };
  UserPromptSubmit: { session_id: string; run_id: string; prompt: string };
  PreToolUse: ToolUse;
  PermissionRequest: { request: JsonObject };
  PostToolUse: ToolUse & { result: ToolResult };
  PostToolUseFailure: ToolUse & { result: ToolResult };
  Elicitation: ElicitationUse;
  ElicitationResult: ElicitationUse & { answer: ElicitationAnswer };
  Stop: { session_id: string; run_id: string; already_continued: boolean };
  /** The session is closed: its record is complete. */
  SessionEnd: { session_id: string };
  /** Of the run that starts another agent. */
  SubagentStart: SubagentUse;
  SubagentStop: SubagentUse & { status: string };
  /** The older part of the conversation is about to be summed up. */
  PreCompact: { session_id: string; run_id: string; trigger: string; tokens_before: number };
  /** The run begins to wait for the user. */
  Notification: {
    session_id: string;
    run_id: string;
    kind: "permission" | "elicitation";
    tool_call_id: string;
    tool_name: string;
    message: string;
  };
}

interface SubagentUse {
  session_id: string;
  run_id: string;
  child_run_id: string;
  child_agent_id: string;
  agent_definition_id: string;
  role: string;
}

interface ToolUse {
  session_id: string;
  run_id: string;
  agent_id: string;
  tool_call_id: string;
  tool_name: string;
  /** observable_input: normalised, and without secrets. */
  input: JsonValue;
  /** Of a hook with a `path`: the path of the call that it was matched for. */
  path?: string;
}

interface ElicitationUse {
  session_id: string;
  tool_call_id: string;
  tool_name: string;
  request: ElicitationRequest;
}

/** Answering nothing is to pass. */
export interface HookAnswers {
  SessionStart: { context?: string };
  UserPromptSubmit: { block?: boolean; reason?: string; context?: string };
  PreToolUse: {
    decision?: "deny" | "ask" | "pass";
    reason?: string;
    /** Replaces the whole input; it is validated, planned and judged again. */
    input?: JsonObject;
    /** Added to what the model reads. */
    context?: string;
    /** Ends the run, with why. */
    stop?: string;
  };
  PermissionRequest: { decision?: "deny" | "pass"; reason?: string };
  PostToolUse: ResultAnswer;
  PostToolUseFailure: ResultAnswer;
  Elicitation: { action?: "accept" | "decline" | "cancel" | "pass"; content?: JsonObject };
  ElicitationResult: Record<string, never>;
  Stop: { continue?: boolean; context?: string };
  SessionEnd: Record<string, never>;
  SubagentStart: Record<string, never>;
  SubagentStop: Record<string, never>;
  PreCompact: Record<string, never>;
  Notification: Record<string, never>;
}

interface ResultAnswer {
  context?: string;
  /** What the model reads instead; the fact keeps the original. */
  replace?: string | ContentBlock[];
}

export type HookEvent = keyof HookPayloads;

export interface Hook<Event extends HookEvent = HookEvent> {
  /** Shown in facts and messages. */
  id: string;
  event: Event;
  /** Only for tools of this name pattern, with all these tags, touching such a path. */
  tool?: NamePattern;
  tags?: readonly string[];
  path?: string;
  timeout_ms?: number;
  /** A guard that fails denies a write and asks for a readonly call, unless it says to continue (HOOK-4). */
  on_failure?: "continue";
  run(
    payload: HookPayloads[Event],
    context: { signal: AbortSignal },
  ): HookAnswers[Event] | void | Promise<HookAnswers[Event] | void>;
}

export type AnyHook = { [Event in HookEvent]: Hook<Event> }[HookEvent];

/** Keeps payload and answer types together for one event. */
export function defineHook<Event extends HookEvent>(hook: Hook<Event>): AnyHook {
  // One member of the union, for an event that is known to the caller alone.
  return hook as unknown as AnyHook;
}

/** Guards can stop a call; the others only watch. */
export function isGuard(event: HookEvent): boolean {
  return event === "PreToolUse" || event === "PermissionRequest";
}
