// Folds what a handler returned or threw into one shape (DEF-7, RESULT-2). Nothing here trusts the
// value: it may be cyclic, huge, a proxy, or hold getters that throw.

import { asRecord, isJsonObject, isRecord, type JsonObject, type JsonValue } from "@soong/schema";
import {
  isContextNodeKind,
  isErrorClass,
  isHandlerErrorStatus,
  isHandlerStatus,
  isMarkedResult,
  isRecovery,
  messageOf,
  ToolFailure,
  toolError,
  type ArtifactRef,
  type ContentBlock,
  type ContextModifier,
  type ContextNode,
  type HandlerErrorStatus,
  type HandlerResult,
  type HandlerStatus,
  type ToolError,
} from "../tool/index.ts";

export interface HandlerOutcome {
  status: HandlerStatus;
  content: ContentBlock[];
  /** The returned value, copied, when there is one beside the content. */
  data?: Snapshot;
  /** Set when the handler returned just this text: an output schema is about it. */
  returned_text?: string;
  summary?: string;
  artifacts: ArtifactRef[];
  error?: ToolError;
  metadata?: JsonObject;
  context_nodes?: ContextNode[];
  modify_context?: ContextModifier;
}

const FULL_RESULT_KEYS: ReadonlySet<string> = new Set(
  "ok status content summary data artifacts error metadata context_nodes modify_context".split(" "),
);

export function readReturn(value: unknown): HandlerOutcome {
  try {
    if (typeof value === "string") {
      return { ...succeeded([{ type: "text", text: value }]), returned_text: value };
    }
    if (value === undefined) return succeeded([]);
    if (isFullResult(value)) return readFullResult(value);
    const data = takeSnapshot(value);
    if (data === undefined) return unserialisable(`a ${typeof value} is not JSON`);
    const lost = lostInJson(value, data);
    if (lost !== undefined) return unserialisable(`${lost} has no JSON form`);
    return { status: "succeeded", content: [], artifacts: [], data };
  } catch (error) {
    // The stack of the copy is the bound; what is left below 500 levels is dropped when it is redacted.
    return unserialisable(
      error instanceof RangeError ? "it is nested too deeply" : messageOf(error),
    );
  }
}

export function readThrown(thrown: unknown): HandlerOutcome {
  try {
    if (thrown instanceof ToolFailure) {
      const content = readContent(thrown.content);
      const error = readError(thrown.error) ?? FAILED_WITHOUT_ERROR;
      return {
        status: isHandlerErrorStatus(thrown.status) ? thrown.status : "failed",
        content: typeof content === "string" ? [] : content,
        artifacts: [],
        error,
      };
    }
  } catch {
    // A proxy that throws when it is looked at: it is reported with the text that can be read.
  }
  return failed({ code: "execution_failed", message: messageOf(thrown) });
}

/** A Map, a Set, an Error: objects of which JSON would keep nothing, without a word. */
function lostInJson(value: unknown, data: Snapshot): string | undefined {
  if (!isRecord(value)) return undefined;
  const kept = data.value;
  const isEmpty = typeof kept === "object" && kept !== null && Object.keys(kept).length === 0;
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  if (!isEmpty || prototype === null || prototype === Object.prototype) return undefined;
  const name = prototype.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "such an object";
}

function succeeded(content: ContentBlock[]): HandlerOutcome {
  return { status: "succeeded", content, artifacts: [] };
}

function failed(error: Parameters<typeof toolError>[0]): HandlerOutcome {
  return { status: "failed", content: [], artifacts: [], error: toolError(error) };
}

function unserialisable(why: string): HandlerOutcome {
  return failed({
    code: "result_not_json",
    message: `The tool ran, but its result cannot be written as JSON: ${why}`,
    recovery: "use_another_tool",
  });
}

/** Marked with toolResult(), or plainly of its shape: `ok` or content blocks, and no foreign key. */
function isFullResult(value: unknown): value is HandlerResult {
  if (!isRecord(value)) return false;
  if (isMarkedResult(value)) return true;
  const { ok, content } = value as HandlerResult;
  if (ok === undefined && content === undefined) return false;
  const shaped =
    typeof ok === "boolean" ||
    (Array.isArray(content) &&
      content.length > 0 &&
      content.every((block) => isContentBlock(block)));
  return shaped && Object.keys(value).every((key) => FULL_RESULT_KEYS.has(key));
}

function readFullResult(value: HandlerResult): HandlerOutcome {
  const content = readContent(value.content);
  if (typeof content === "string") return unserialisable(content);
  const error = readError(value.error);
  const status = readStatus(value, error !== undefined);
  const data = value.data === undefined ? undefined : takeSnapshot(value.data);
  const { summary, context_nodes, modify_context } = value;
  return {
    status,
    content,
    artifacts: readArtifacts(value.artifacts),
    data,
    summary: typeof summary === "string" ? summary : undefined,
    error: isHandlerErrorStatus(status)
      ? (error ?? errorFrom(status, summary))
      : status === "partial"
        ? error
        : undefined,
    metadata: plainObject(value.metadata),
    context_nodes: Array.isArray(context_nodes) ? readNodes(context_nodes) : undefined,
    modify_context: typeof modify_context === "function" ? modify_context : undefined,
  };
}

/** `ok: false` is always a failure; so is an unknown status. */
function readStatus({ ok, status }: HandlerResult, hasError: boolean): HandlerStatus {
  if (ok === false) return isHandlerErrorStatus(status) ? status : "failed";
  if (status === undefined) return hasError ? "failed" : "succeeded";
  return isHandlerStatus(status) ? status : "failed";
}

const FAILED_WITHOUT_ERROR = toolError({
  code: "execution_failed",
  message: "The tool reported a failure without saying which.",
});

/** A model must not take either of these for a plain failure, after which it could try again. */
const WITHOUT_ERROR = {
  failed: FAILED_WITHOUT_ERROR,
  timed_out: toolError({
    code: "timed_out",
    error_class: "timeout",
    message: "The tool gave up waiting; it may or may not have happened.",
    recovery: "ask_the_user",
  }),
  unknown: toolError({
    code: "outcome_unknown",
    message: "It may or may not have happened: find out before doing it again.",
    recovery: "ask_the_user",
  }),
} as const;

/** A tool that failed and gave a summary has said why there. */
function errorFrom(status: HandlerErrorStatus, summary: unknown): ToolError {
  const known = WITHOUT_ERROR[status];
  if (status !== "failed" || typeof summary !== "string" || summary.trim() === "") return known;
  return toolError({ ...known, message: summary });
}

/** A value of the wrong type is omitted, and the safer default is used. */
function readError(error: unknown): ToolError | undefined {
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return toolError({ code: "execution_failed", message: error });
  const given = plainObject(error) ?? {};
  const { code, message, error_class, retryable, recovery, details } = given;
  return toolError({
    code: typeof code === "string" && code !== "" ? label(code) : "execution_failed",
    message: typeof message === "string" ? message : FAILED_WITHOUT_ERROR.message,
    error_class: isErrorClass(error_class) ? error_class : undefined,
    retryable: typeof retryable === "boolean" ? retryable : undefined,
    recovery: isRecovery(recovery) ? recovery : undefined,
    details: isJsonObject(details) ? details : undefined,
  });
}

/** The blocks as JSON of our own, or what is wrong with them. */
function readContent(content: unknown): ContentBlock[] | string {
  if (content === undefined) return [];
  if (!Array.isArray(content)) return "content is not a list of blocks";
  const bad = content.findIndex((block) => !isContentBlock(block));
  if (bad !== -1) return `content[${bad}] is not a block of a known type`;
  return (JSON.parse(JSON.stringify(content)) as ContentBlock[]).map(shortLabels);
}

/** Words about a block that no bound of the text counts. */
function shortLabels(block: ContentBlock): ContentBlock {
  if (block.type === "text" || block.type === "json") return block;
  if (block.media_type !== undefined) block.media_type = label(block.media_type);
  if (block.type === "artifact_ref") {
    block.artifact_id = label(block.artifact_id);
    if (block.name !== undefined) block.name = label(block.name);
  }
  return block;
}

const MAX_LABEL_CHARS = 300;

function label(text: unknown): string {
  return String(text).slice(0, MAX_LABEL_CHARS);
}

/** Whether a value is a block that a result may hold. */
export function isContentBlock(given: unknown): given is ContentBlock {
  const { type, text, json, media_type, data, uri, blob, artifact_id } = asRecord(given);
  switch (type) {
    case "text":
      return isText(text);
    case "json":
      return json !== undefined;
    case "image":
    case "audio":
      return isText(media_type) && isText(data);
    case "resource":
      // One of the two, and only one.
      return isText(uri) && isText(text ?? blob) && (text === undefined || blob === undefined);
    case "resource_link":
      return isText(uri);
    case "artifact_ref":
      return isText(artifact_id);
    default:
      return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function readArtifacts(artifacts: unknown): ArtifactRef[] {
  if (!Array.isArray(artifacts)) return [];
  return artifacts.slice(0, MAX_ARTIFACTS).flatMap((ref: Partial<ArtifactRef> | null) => {
    const { artifact_id, media_type = "application/octet-stream", size } = ref ?? {};
    if (typeof artifact_id !== "string") return [];
    const { sha256 = "", name } = ref ?? {};
    return {
      artifact_id: label(artifact_id),
      media_type: label(media_type),
      size: typeof size === "number" ? size : 0,
      sha256: label(sha256),
      name: typeof name === "string" ? label(name) : undefined,
    };
  });
}

/** As many as a tool can sensibly give at once; each is a fact of its own already. */
const MAX_ARTIFACTS = 1000;

function readNodes(nodes: readonly ContextNode[]): ContextNode[] {
  return (JSON.parse(JSON.stringify(nodes)) as ContextNode[]).filter(
    (node) => isContextNodeKind(node?.kind) && typeof node.text === "string",
  );
}

function plainObject(value: unknown): JsonObject | undefined {
  if (!isRecord(value)) return undefined;
  return JSON.parse(JSON.stringify(value)) as Record<string, JsonValue>;
}

/**
 * A copy of what a handler returned, as JSON of our own: the handler may keep its object and change it, the record may
 * not. Plain data is copied directly; everything odd goes the long way through JSON text, which knows about toJSON, drops
 * what JSON has no word for, and refuses cycles.
 */
export interface Snapshot {
  readonly value: JsonValue;
  /** How long the value is as text, at the most: cheap to tell, and enough to see that it is short. */
  readonly chars: number;
}

/** Deeper data is copied through text. */
const MAX_DEPTH = 64;

/** Undefined when the value has no JSON form at all (a function, a symbol). Throws where JSON.stringify does. */
export function takeSnapshot(given: unknown): Snapshot | undefined {
  const counter = { chars: 0 };
  const copied = copy(given, counter, 0);
  if (copied !== ODD) return { value: copied, chars: counter.chars };
  const text: string | undefined = JSON.stringify(given);
  if (text === undefined) return undefined;
  return { value: JSON.parse(text) as JsonValue, chars: text.length };
}

const ODD = Symbol("not plain data");

function copy(given: unknown, counter: { chars: number }, depth: number): JsonValue | typeof ODD {
  switch (typeof given) {
    case "string":
      // A control character takes six.
      counter.chars += 6 * given.length + 2;
      return given;
    case "number":
      counter.chars += 25;
      return Number.isFinite(given) ? given : null;
    case "boolean":
      counter.chars += 5;
      return given;
    case "object": {
      if (given === null) {
        counter.chars += 4;
        return null;
      }
      if (depth >= MAX_DEPTH) return ODD;
      if (!Array.isArray(given)) return copyObject(given, counter, depth);
      const list: JsonValue[] = [];
      for (const item of given) {
        const copied = copy(item, counter, depth + 1);
        if (copied === ODD) return ODD;
        counter.chars += 1;
        list.push(copied);
      }
      return list;
    }
    default:
      return ODD;
  }
}

function copyObject(
  given: object,
  counter: { chars: number },
  depth: number,
): JsonObject | typeof ODD {
  const prototype: unknown = Object.getPrototypeOf(given);
  if ((prototype !== Object.prototype && prototype !== null) || "toJSON" in given) return ODD;
  const object: JsonObject = {};
  for (const key of Object.keys(given)) {
    const value = (given as Record<string, unknown>)[key];
    if (value === undefined) continue;
    // Assigned like any other key it would set the prototype.
    if (key === "__proto__") return ODD;
    const copied = copy(value, counter, depth + 1);
    if (copied === ODD) return ODD;
    counter.chars += 6 * key.length + 4;
    object[key] = copied;
  }
  return object;
}

/** Some JSON for any value: what a schema of the author's made of an input may be anything. */
export function recordable(given: unknown): JsonValue {
  try {
    const snapshot = takeSnapshot(given);
    if (snapshot !== undefined) return snapshot.value;
  } catch {
    // A big integer or a cycle inside: described below as well as possible.
  }
  try {
    const text = JSON.stringify(given, (_key, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value,
    ) as string | undefined;
    if (text !== undefined) return JSON.parse(text) as JsonValue;
  } catch {
    // Nothing of it can be written down.
  }
  return "(a value that is not JSON)";
}
