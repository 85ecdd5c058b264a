// The parts of one streamed answer as our events. It owns the state of an answer: which calls are open, which
// are complete, and the pieces the provider will want to see again.

import type { JsonObject, JsonValue } from "@soong/core";
import { asRecord, isRecord, omitUndefined, isJsonObject } from "@soong/schema";
import type {
  ModelError,
  ModelEvent,
  ModelUsage,
  StopReason,
  AssistantMessage,
  ModelCall,
} from "../model/index.ts";
import { modelError, toModelError, type ErrorContext } from "./to-model-error.ts";

/** What we read of a part, whichever version of the interface it is of. */
export interface StreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface OpenCall {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly piece: Extract<Piece, { type: "call" }>;
  text: string;
  /** The arguments it was reported complete with. */
  complete?: string;
}

/** Gives the events of each part. The last is `completed` or `failed` when the answer is over. */
export function createPartReader(
  context: Omit<ErrorContext, "begun">,
): (part: StreamPart) => readonly ModelEvent[] {
  const natives = createNativeIds();
  const pieces: Piece[] = [];
  const blocks = new Map<string, Extract<Piece, { type: "text" | "reasoning" }>>();
  const calls: OpenCall[] = [];
  /** By the package's id, which a later call may take over. */
  const open = new Map<string, OpenCall>();
  /** Complete ones waiting for the end of the answer, because the first of them may be cut off. */
  const held: OpenCall[] = [];
  let reported = 0;

  return (part) => {
    const { type } = part;
    if (/^text-(start|delta|end)$/.test(type)) return readBlock("text", part);
    if (/^reasoning-(start|delta|end)$/.test(type)) return readBlock("reasoning", part);
    switch (type) {
      case "raw":
        natives.note(part["rawValue"]);
        return [];
      case "tool-input-start":
        return callStart(part);
      case "tool-input-delta":
        return callDelta(part);
      case "tool-call":
        return callEnd(part);
      case "finish":
        return finish(part);
      case "error":
        return toFailedEvents(toModelError(part["error"], { ...context, begun: true }));
      default:
        return [];
    }
  };

  function readBlock(type: "text" | "reasoning", part: StreamPart): ModelEvent[] {
    const id = `${type} ${readText(part["id"])}`;
    let block = part.type.endsWith("-start") ? undefined : blocks.get(id);
    if (block === undefined) {
      block = type === "text" ? { type, chars: 0 } : { type, text: "" };
      blocks.set(id, block);
      pieces.push(block);
    }
    addMetadata(block, part);
    const text = part.type.endsWith("-delta") ? readText(part["delta"]) : "";
    if (block.type === "text") block.chars += text.length;
    else block.text += text;
    return text === "" ? [] : [{ type: `${type}_delta`, text }];
  }

  function callStart(part: StreamPart): ModelEvent[] {
    if (part["providerExecuted"] === true) return [];
    // The next one begins: calls that are whole by now get no more, and may start before the answer ends.
    const whole = calls.filter(
      ({ complete, text }) => complete === undefined && isWholeObject(text) && !isBlank(text),
    );
    const events = whole.flatMap((call) => completeCall(call, call.text));
    const call = openCall(readText(part["id"]), readText(part["toolName"]));
    addMetadata(call.piece, part);
    return [...events, { type: "call_delta", key: call.key, name: call.name, arguments: "" }];
  }

  function callDelta(part: StreamPart): ModelEvent[] {
    const call = open.get(readText(part["id"]));
    if (call === undefined) return [];
    const text = readText(part["delta"]);
    call.text += text;
    addMetadata(call.piece, part);
    if (call.complete !== undefined) return text.trim() === "" ? [] : moreThanWhole();
    return text === "" ? [] : [{ type: "call_delta", key: call.key, arguments: text }];
  }

  function callEnd(part: StreamPart): ModelEvent[] {
    if (part["providerExecuted"] === true) return [];
    const id = readText(part["toolCallId"]);
    const call = open.get(id) ?? openCall(id, readText(part["toolName"]));
    open.delete(id);
    addMetadata(call.piece, part);
    const input = readText(part["input"]);
    if (call.complete === undefined) return completeCall(call, input);
    return call.complete.trim() === input.trim() ? [] : moreThanWhole();
  }

  function openCall(id: string, name: string): OpenCall {
    const piece = { type: "call" as const, call: -1 };
    const call = { key: String(calls.length), id, name, piece, text: "" };
    calls.push(call);
    open.set(id, call);
    pieces.push(piece);
    return call;
  }

  /**
   * A call that is not whole waits for the end, and those after it wait with it: some packages report calls
   * as complete when the connection breaks, and such a call must not start.
   */
  function completeCall(call: OpenCall, text: string): ModelEvent[] {
    call.complete = text;
    if (held.length > 0 || !isWholeObject(text)) {
      held.push(call);
      return [];
    }
    return [reportCall(call, text)];
  }

  function reportCall({ key, id, name, piece }: OpenCall, text: string): ModelEvent {
    piece.call = reported;
    reported += 1;
    const native = natives.isNative(id) ? { id } : {};
    return { type: "call_complete", key, ...native, name, arguments: text };
  }

  function moreThanWhole(): ModelEvent[] {
    return toFailedEvents(modelError("malformed_stream", context.modelId));
  }

  function finish(part: StreamPart): ModelEvent[] {
    const { unified, raw } = readFinishReason(part["finishReason"]);
    const usage = readProviderUsage(part["usage"]);
    if (raw === undefined && (unified === "other" || unified === "unknown")) {
      return toFailedEvents(modelError("disconnect", context.modelId), usage);
    }
    if (unified === "error") {
      const kind = /MALFORMED|UNEXPECTED/.test(raw ?? "") ? "malformed_stream" : "server_error";
      return toFailedEvents(modelError(kind, context.modelId), usage);
    }
    const events = held.map((call) => reportCall(call, call.complete ?? ""));
    const kept = pieces.filter((piece) => piece.type !== "call" || piece.call >= 0);
    const data = providerData(context.modelId, kept);
    return [
      ...events,
      {
        type: "completed",
        stop: toStopReason(unified, reported > 0),
        usage,
        ...omitUndefined({ provider_data: data }),
      },
    ];
  }
}

function toFailedEvents(error: ModelError, usage: ModelUsage = {}): ModelEvent[] {
  const counted = Object.keys(usage).length === 0 ? {} : { usage };
  return [{ type: "failed", error, ...counted }];
}

function readFinishReason(given: unknown): { unified: string; raw: string | undefined } {
  if (typeof given === "string") return { unified: given, raw: undefined };
  const { unified, raw } = (given ?? {}) as { unified?: unknown; raw?: unknown };
  return { unified: readText(unified), raw: typeof raw === "string" ? raw : undefined };
}

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ["tool-calls", "tool_use"],
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["content-filter", "refused"],
]);

/** Some servers call it an ordinary stop when there are calls. */
function toStopReason(unified: string, hasCalls: boolean): StopReason {
  if (unified === "stop" && hasCalls) return "tool_use";
  return STOPS.get(unified) ?? "other";
}

function addMetadata(piece: Piece, part: StreamPart): void {
  const given = part["providerMetadata"];
  if (typeof given !== "object" || given === null) return;
  const metadata: JsonObject = { ...piece.metadata };
  for (const [provider, fields] of Object.entries(given as Record<string, JsonObject>)) {
    metadata[provider] = { ...(metadata[provider] as JsonObject | undefined), ...fields };
  }
  piece.metadata = metadata;
}

function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    const value = JSON.parse(text) as unknown;
    return isRecord(value);
  } catch {
    return false;
  }
}

/** Some servers begin every call with an empty object and send the arguments afterwards. */
function isBlank(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text);
}

function readText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readProviderUsage(given: unknown): ModelUsage {
  const usage = asRecord(given);
  const input = asRecord(usage["inputTokens"]);
  const output = asRecord(usage["outputTokens"]);
  const counts: Readonly<Record<keyof ModelUsage, unknown>> = {
    input_tokens: input["total"] ?? usage["inputTokens"],
    output_tokens: output["total"] ?? usage["outputTokens"],
    cache_read_tokens: input["cacheRead"] ?? usage["cachedInputTokens"],
    cache_write_tokens: input["cacheWrite"],
    reasoning_tokens: output["reasoning"] ?? usage["reasoningTokens"],
  };
  return Object.fromEntries(
    Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count)),
  );
}

// Which call ids are the provider's own. Its package makes ids up where they are missing or repeated, so the
// raw events are asked: an id that is in none of them was made up, and is omitted (MODEL-3).

function createNativeIds() {
  const ids = new Set<string>();
  let isShown = false;
  return {
    /** Takes note of a raw event. */
    note(rawEvent: unknown): void {
      isShown = true;
      collect(rawEvent, ids, 0);
    },
    /** A package that shows no raw events is believed. */
    isNative: (id: string): boolean => id !== "" && (!isShown || ids.has(id)),
  };
}

const ID_FIELDS: ReadonlySet<string> = new Set(["id", "call_id", "item_id"]);
/** Deeper than any provider's events; arguments of calls are texts or lie further down. */
const MAX_DEPTH = 8;

function collect(value: unknown, ids: Set<string>, depth: number): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  for (const [field, inner] of Object.entries(value)) {
    if (typeof inner === "string") {
      if (ID_FIELDS.has(field)) ids.add(inner);
    } else collect(inner, ids, depth + 1);
  }
}

// What a provider wants to see again with its own answer: reasoning, signatures, item ids, and the order its
// pieces came in. Kept as `provider_data` of the answer, and laid out again when the answer is sent back.

/** One piece of an answer, in the order of the stream. The text itself stays in the message alone. */
export type Piece =
  | { type: "text"; chars: number; metadata?: JsonObject }
  | { type: "reasoning"; text: string; metadata?: JsonObject }
  /** `call` counts the calls of the message from 0. */
  | { type: "call"; call: number; metadata?: JsonObject };

type ReplayPart = { readonly metadata?: JsonObject } & (
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly call: ModelCall }
);

/** Undefined when message and calls alone say everything. */
export function providerData(modelId: string, pieces: readonly Piece[]): JsonObject | undefined {
  const needed = pieces.some(
    ({ type, metadata }) => type === "reasoning" || metadata !== undefined,
  );
  if (!needed) return undefined;
  return JSON.parse(JSON.stringify({ model: modelId, pieces })) as JsonObject;
}

/** Signatures of one model mean nothing to another: then only text and calls go back. */
export function replayParts(message: AssistantMessage, modelId: string): ReplayPart[] {
  const data = message.provider_data;
  const pieces = data?.["model"] === modelId ? readPieces(data["pieces"]) : undefined;
  return (pieces && layOut(message, pieces)) ?? plainParts(message);
}

function plainParts({ text, calls }: AssistantMessage): ReplayPart[] {
  const parts: ReplayPart[] = text === "" ? [] : [{ type: "text", text }];
  return [...parts, ...calls.map((call) => ({ type: "call" as const, call }))];
}

/** Undefined when the message is no longer the one the pieces were taken from. */
function layOut(message: AssistantMessage, pieces: readonly Piece[]): ReplayPart[] | undefined {
  const parts: ReplayPart[] = [];
  const placed = new Set<number>();
  let at = 0;
  for (const piece of pieces) {
    const metadata = omitUndefined({ metadata: piece.metadata });
    if (piece.type === "reasoning") {
      parts.push({ type: "reasoning", text: piece.text, ...metadata });
    } else if (piece.type === "text") {
      const text = message.text.slice(at, at + piece.chars);
      at += piece.chars;
      if (text !== "") parts.push({ type: "text", text, ...metadata });
    } else {
      const call = message.calls[piece.call];
      if (call === undefined || placed.has(piece.call)) return undefined;
      placed.add(piece.call);
      parts.push({ type: "call", call, ...metadata });
    }
  }
  return at === message.text.length && placed.size === message.calls.length ? parts : undefined;
}

function readPieces(given: JsonValue | undefined): Piece[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const pieces = given.map(readPiece);
  return pieces.every((piece) => piece !== undefined) ? pieces : undefined;
}

function readPiece(given: JsonValue): Piece | undefined {
  if (!isJsonObject(given)) return undefined;
  const metadata = isJsonObject(given["metadata"]) ? { metadata: given["metadata"] } : {};
  const { type, chars, text, call } = given;
  if (type === "text" && typeof chars === "number") return { type, chars, ...metadata };
  if (type === "reasoning" && typeof text === "string") return { type, text, ...metadata };
  if (type === "call" && typeof call === "number") return { type, call, ...metadata };
  return undefined;
}
