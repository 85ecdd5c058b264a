// A server's wish for a message of the host's model, as it is passed on: what the protocol knows, bounded and
// redacted, without what reaches further than this server (the context of others, tools). And the answers to
// such wishes, checked as far as we vouch for their shape.

import type { JsonObject, JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";

const MAX_CHARS = 2 * 1024 * 1024;
const MAX_MESSAGES = 1_000;
const MAX_ROOTS = 1_000;
const MAX_DEPTH = 50;
const PASSED_ON = [
  "messages",
  "systemPrompt",
  "modelPreferences",
  "maxTokens",
  "temperature",
  "stopSequences",
  "metadata",
] as const;

export type ReadSampling =
  | { readonly ok: true; readonly params: JsonObject }
  | { readonly ok: false; readonly why: string };

export function readSampling(given: JsonObject, redact: (text: string) => string): ReadSampling {
  const { messages, maxTokens, tools, toolChoice } = given;
  if (tools !== undefined || toolChoice !== undefined) {
    return { ok: false, why: "sampling with tools is not offered" };
  }
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES) {
    return { ok: false, why: `messages must be a list of 1 to ${MAX_MESSAGES}` };
  }
  if (typeof maxTokens !== "number") return { ok: false, why: "maxTokens must be a number" };
  const known = PASSED_ON.flatMap((key) => {
    const value = given[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  const params: JsonObject = Object.fromEntries(known);
  if (JSON.stringify(params).length > MAX_CHARS) {
    return { ok: false, why: `the request is longer than ${MAX_CHARS} characters` };
  }
  return { ok: true, params: redacted(params, redact, 0) as JsonObject };
}

/** Bytes are unchanged: text found in base64 is not text. */
function redacted(value: JsonValue, redact: (text: string) => string, depth: number): JsonValue {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "(too deep)";
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact, depth + 1));
  const isMedia = value["type"] === "image" || value["type"] === "audio";
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => {
      const isBytes = isMedia && key === "data";
      return [key, isBytes ? held : redacted(held, redact, depth + 1)];
    }),
  );
}

export function isSampledMessage(result: JsonObject): boolean {
  const { role, content, model } = result;
  const isContent = isJsonObject(content) || Array.isArray(content);
  return (
    (role === "assistant" || role === "user") &&
    isContent &&
    typeof model === "string" &&
    JSON.stringify(result).length <= MAX_CHARS
  );
}

export function isRootsList({ roots }: JsonObject): boolean {
  return (
    Array.isArray(roots) &&
    roots.length <= MAX_ROOTS &&
    roots.every((root) => {
      const uri = isJsonObject(root) ? root["uri"] : undefined;
      return typeof uri === "string" && uri.startsWith("file://");
    })
  );
}
