// Text of a server, before anyone reads it: bounded, and without characters that hide or rearrange what
// is there (terminal sequences, direction marks, invisible letters).

import { isRecord, oneLine } from "@soong/schema";
import { SCHEMA_MAPS } from "../connection/parameter-headers.ts";

/** Line breaks and tabs stay; so do the joiners that real scripts and emoji need. */
const HIDDEN = /(?:(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u{E0000}-\u{E0FFF}])+/gu;

export function safeText(text: string, maxChars: number): string {
  // Cut first: what is looked at is bounded, too.
  const head = text.slice(0, maxChars);
  const safe = head.replaceAll("\r\n", "\n").replace(HIDDEN, "\uFFFD");
  return text.length <= maxChars ? safe : `${safe}… (cut: ${text.length} characters in all)`;
}

/** One line of it, for lists and messages. */
export function safeLine(text: string, maxChars: number): string {
  return oneLine(safeText(text, maxChars));
}

const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "example"]);
const WORDS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);
const MAX_WORDS = 8_000;
const MAX_DEPTH = 130;

/** The words of a schema made safe, and marks for others omitted; what decides about values is unchanged. */
export function safeSchema(schema: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH || typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => safeSchema(item, depth + 1));
  const own = Object.entries(schema).filter(([key, held]) => !isExtension(key, held));
  const entries = own.map(([key, held]): [string, unknown] => {
    if (WORDS.has(key) && typeof held === "string") return [key, safeText(held, MAX_WORDS)];
    if (key === "enumNames" && Array.isArray(held)) return [key, held.map(safeWord)];
    if (DATA.has(key)) return [key, held];
    if (SCHEMA_MAPS.has(key) && isRecord(held)) {
      const fields = Object.entries(held).map(([name, field]): [string, unknown] => [
        name,
        safeSchema(field, depth + 2),
      ]);
      return [key, Object.fromEntries(fields)];
    }
    return [key, safeSchema(held, depth + 1)];
  });
  return Object.fromEntries(entries);
}

function safeWord(word: unknown): unknown {
  return typeof word === "string" ? safeText(word, MAX_WORDS) : word;
}

/** Whether all names and values in it are safe to show as they are: none could be changed without changing what they mean. */
export function isSafe(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.replaceAll("\r\n", "\n").search(HIDDEN) === -1;
  if (typeof value !== "object" || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  return Object.entries(value).every(([key, held]) => isSafe(key) && isSafe(held, depth + 1));
}

/** Such as `x-mcp-header`: no model needs it, and some refuse what they do not know. An object may be referred to. */
function isExtension(key: string, held: unknown): boolean {
  return key.startsWith("x-") && !isRecord(held);
}
