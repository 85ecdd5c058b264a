// The parts of one streamed answer as our events. It owns the state of an answer: which calls are open, which
// are complete, and the pieces the provider will want to see again.

import type { JsonObject } from "@soong/core";
import { asRecord, isRecord, omitUndefined } from "@soong/schema";
import type { ModelError, ModelEvent, ModelUsage, StopReason } from "../model/index.ts";
import { createNativeIds } from "./native-ids.ts";
import { providerData, type Piece } from "./provider-data.ts";
import { modelError, toModelError, type ErrorContext } from "./to-model-error.ts";

/** What we read of a part, whichever version of the interface it is of. */
export interface StreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface PartReader {
  /** The last event is `completed` or `failed` when the answer is over. */
  read(part: StreamPart): readonly ModelEvent[];
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

export function createPartReader(context: Omit<ErrorContext, "begun">): PartReader {
  const natives = createNativeIds();
  const pieces: Piece[] = [];
  const blocks = new Map<string, Extract<Piece, { type: "text" | "reasoning" }>>();
  const calls: OpenCall[] = [];
  /** By the package's id, which a later call may take over. */
  const open = new Map<string, OpenCall>();
  /** Complete ones waiting for the end of the answer, because the first of them may be cut off. */
  const held: OpenCall[] = [];
  let reported = 0;

  return { read };

  function read(part: StreamPart): readonly ModelEvent[] {
    switch (part.type) {
      case "raw":
        natives.note(part["rawValue"]);
        return [];
      case "text-start":
      case "text-end":
        findBlock("text", part);
        return [];
      case "text-delta":
        return textDelta(part);
      case "reasoning-start":
      case "reasoning-end":
        findBlock("reasoning", part);
        return [];
      case "reasoning-delta": {
        const block = findBlock("reasoning", part);
        const text = readText(part["delta"]);
        if (block.type === "reasoning") block.text += text;
        return text === "" ? [] : [{ type: "reasoning_delta", text }];
      }
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
  }

  function findBlock(type: "text" | "reasoning", part: StreamPart) {
    const id = `${type} ${readText(part["id"])}`;
    let block = part.type === `${type}-start` ? undefined : blocks.get(id);
    if (block === undefined) {
      block = type === "text" ? { type, chars: 0 } : { type, text: "" };
      blocks.set(id, block);
      pieces.push(block);
    }
    addMetadata(block, part);
    return block;
  }

  function textDelta(part: StreamPart): ModelEvent[] {
    const text = readText(part["delta"]);
    const block = findBlock("text", part);
    if (block.type === "text") block.chars += text.length;
    return text === "" ? [] : [{ type: "text_delta", text }];
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

function toFailedEvents(
  error: ModelError,
  usage?: ReturnType<typeof readProviderUsage>,
): ModelEvent[] {
  const told = usage === undefined || Object.keys(usage).length === 0 ? {} : { usage };
  return [{ type: "failed", error, ...told }];
}

function readFinishReason(given: unknown): { unified: string; raw: string | undefined } {
  if (typeof given === "string") return { unified: given, raw: undefined };
  const { unified, raw } = (given ?? {}) as { unified?: unknown; raw?: unknown };
  return { unified: readText(unified), raw: typeof raw === "string" ? raw : undefined };
}

/** Some servers call it an ordinary stop when there are calls. */
function toStopReason(unified: string, hasCalls: boolean): StopReason {
  switch (unified) {
    case "tool-calls":
      return "tool_use";
    case "stop":
      return hasCalls ? "tool_use" : "end_turn";
    case "length":
      return "max_tokens";
    case "content-filter":
      return "refused";
    default:
      return "other";
  }
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

export function readProviderUsage(given: unknown): ModelUsage {
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
