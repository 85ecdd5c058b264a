// What a provider wants to see again with its own answer: reasoning, signatures, item ids, and the order its
// pieces came in. Kept as `provider_data` of the answer, and laid out again when the answer is sent back.

import type { JsonObject, JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { AssistantMessage, ModelCall } from "../model/index.ts";

/** One piece of an answer, in the order of the stream. The text itself stays in the message alone. */
export type Piece =
  | { type: "text"; chars: number; metadata?: JsonObject }
  | { type: "reasoning"; text: string; metadata?: JsonObject }
  /** `call` counts the calls of the message from 0. */
  | { type: "call"; call: number; metadata?: JsonObject };

export type ReplayPart =
  | { readonly type: "text"; readonly text: string; readonly metadata?: JsonObject }
  | { readonly type: "reasoning"; readonly text: string; readonly metadata?: JsonObject }
  | { readonly type: "call"; readonly call: ModelCall; readonly metadata?: JsonObject };

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
    const metadata = piece.metadata === undefined ? {} : { metadata: piece.metadata };
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
  const pieces: Piece[] = [];
  for (const entry of given) {
    const piece = readPiece(entry);
    if (piece === undefined) return undefined;
    pieces.push(piece);
  }
  return pieces;
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
