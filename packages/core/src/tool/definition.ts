// What an author writes about a tool (DEF-1, DEF-2). Data fields are snake_case because definitions are
// exported as records; functions are camelCase.

import type { InferOutput, JsonObject, SchemaLike } from "@soong/schema";
import type {
  ContextModifier,
  Places,
  PrepareContext,
  TargetsContext,
  ToolContext,
} from "./context.ts";
import type { Plan, Targets } from "./plan.ts";
import type { ArtifactRef, ContentBlock, HandlerStatus, ToolError, ToolResult } from "./result.ts";

export type Permission = "readonly" | "write";
export type InterruptBehavior = "cancel" | "block";

export const KNOWN_TAGS = [
  "internal",
  "readonly",
  "write",
  "agent",
  "mcp",
  "code",
  "declarative",
  "dangerous",
  "filesystem",
  "network",
] as const;

// `Schema` is what the author gave; the handler's input type follows from it (DEF-6).
export interface ToolDefinition<
  Schema extends SchemaLike = SchemaLike,
  Input = InferOutput<Schema>,
> {
  name: string;
  description: string;
  input_schema: Schema;
  /** By default, a tool writes (DEF-3). About outside effects only; for those inside see `repeatable`. */
  permission?: Permission;
  tags?: readonly string[];
  metadata?: JsonObject;

  aliases?: readonly string[];
  title?: string;
  /** Three to ten words a model might search for. */
  search_hint?: string;
  output_schema?: SchemaLike;
  /** Offer only name and hint until the model asks for it. */
  defer?: boolean;
  /** Never deferred, with any budget. */
  always_load?: boolean;
  max_result_chars?: number;
  timeout_ms?: number;
  interrupt_behavior?: InterruptBehavior;
  /** `cancel_siblings`: a failure of this call ends the calls running beside it (SCHED-4). */
  on_sibling_failure?: "cancel_siblings" | "continue";
  /** May run beside others for every input. Default: no. */
  concurrency_safe?: boolean;
  /** May delete, overwrite or send what cannot be taken back. Default: yes for a write. */
  destructive?: boolean;
  /** Reaches things no one listed. Default: yes with the network tag. */
  open_world?: boolean;
  /**
   * Leaves nothing behind, inside or outside: it may start before the answer is complete, be discarded and be done
   * again. Default: yes for a readonly tool that is concurrency-safe.
   */
  repeatable?: boolean;
  /** Starts another agent: scheduled as a class of its own (SCHED-2). Agent sources only. */
  starts_agent?: boolean;
  /** Keeps its result within the inline bound on its own: no second bound on top (RESULT-6). Trusted sources only. */
  bounds_itself?: boolean;
  /** `known_values`: look-alikes of keys stay as they are, so that what is read can be edited (REDACT-1). */
  redaction?: "full" | "known_values";

  isEnabled?(): boolean | Promise<boolean>;
  /** Long instructions, asked for once a session. */
  prompt?(): string | Promise<string>;
  /** Idempotent. What hooks and users see of the input. */
  normalise?(input: Input): Input;
  /** Checks values beyond the schema: nothing, or what is wrong in one sentence. */
  validate?(input: Input): ValueProblem | Promise<ValueProblem>;
  /** The effects of this very call; may only report less than the definition (DEF-4). */
  classify?(input: Input, places: Places): CallClass;
  /**
   * What the input names, resolved: paths through links, the executable, hosts. Reads no content and does
   * not fail because something is missing: neither hooks nor permission have run yet (PIPE-9).
   */
  targets?(input: Input, context: TargetsContext): Targets | Promise<Targets>;
  /**
   * Plans the call without side effects, after hooks and permission let its targets pass: content, preview,
   * pre-images, further resources. A tool never asks for permission: it says what it would touch.
   */
  prepare?(input: Input, context: PrepareContext): Plan | Promise<Plan>;
  /** Where the model may choose the time itself, within the maximum (PIPE-5). */
  timeoutFor?(input: Input): number | undefined;
  /** What the user sees of the result, as plain text. */
  render?(result: ToolResult): string;
  handler(input: Input, context: ToolContext): HandlerReturn;
}

export type AnyTool = ToolDefinition;

export type ValueProblem = string | undefined | null | void;

export interface CallClass {
  read_only?: boolean;
  concurrency_safe?: boolean;
  destructive?: boolean;
  open_world?: boolean;
}

/**
 * A plain value, a full result, or an async generator that yields progress and returns either.
 * A handler that blocks the thread for ever cannot be ended by anything in its own thread: time out
 * such work inside a worker or a process.
 */
export type HandlerReturn = unknown;

/** What a handler returns when a plain value is not enough. All fields are optional. */
export interface HandlerResult {
  ok?: boolean;
  status?: HandlerStatus;
  content?: ContentBlock[];
  summary?: string;
  data?: unknown;
  artifacts?: ArtifactRef[];
  error?: string | (Pick<ToolError, "code" | "message"> & Partial<ToolError>);
  metadata?: JsonObject;
  /** Nodes for the conversation; they commit with the result or not at all (RESULT-7). */
  context_nodes?: ContextNode[];
  /** Only a tool that is not concurrency-safe may return one (DEF-8). */
  modify_context?: ContextModifier;
}

const CONTEXT_NODES = [
  "skill_context",
  "memory_context",
  "instruction_context",
  "plan_instruction",
  "task_instruction",
  "child_result",
] as const;

export interface ContextNode {
  kind: (typeof CONTEXT_NODES)[number];
  text: string;
  data?: JsonObject;
}

/** The kinds a tool may add; a message or a compaction is not among them. */
export function isContextNodeKind(kind: unknown): kind is ContextNode["kind"] {
  return CONTEXT_NODES.includes(kind as ContextNode["kind"]);
}

/** Marks a handler's return value as a full result, so that no data of a tool is mistaken for one. */
export function toolResult(result: HandlerResult): HandlerResult {
  fullResults.add(result);
  return result;
}

export function isMarkedResult(value: object): value is HandlerResult {
  return fullResults.has(value);
}

const fullResults = new WeakSet<object>();
