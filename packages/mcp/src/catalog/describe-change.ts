// What changed between two definitions of a tool, in words the user can judge (MCP-7).

import { canonicalJson } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { ServerTool } from "./server-tool.ts";
import { safeLine } from "./safe-text.ts";

const MAX_LINES = 40;
const MAX_DEPTH = 64;
const SHOWN_CHARS = 160;
const AROUND_CHARS = 40;

/** One line for each change; empty when nothing did. */
export function describeChange(before: ServerTool, after: ServerTool): readonly string[] {
  const lines: string[] = [];
  let more = 0;
  compare("", before, after, 0);
  return more === 0 ? lines : [...lines, `and ${more} more`];

  function say(line: string): void {
    if (lines.length < MAX_LINES) lines.push(safeLine(line, 1_000));
    else more += 1;
  }

  function compare(path: string, old: unknown, now: unknown, depth: number): void {
    if (Object.is(old, now)) return;
    if (old === undefined) return say(`${path} was added: ${shown(now)}`);
    if (now === undefined) return say(`${path} was removed: ${shown(old)}`);
    if (isJsonObject(old) && isJsonObject(now) && depth < MAX_DEPTH) {
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
        compare(path === "" ? key : `${path}.${key}`, own(old, key), own(now, key), depth + 1);
      }
      return undefined;
    }
    const oldText = canonicalJson(old);
    const nowText = canonicalJson(now);
    if (oldText === nowText) return undefined;
    const { from, to } = differing(oldText, nowText);
    return say(`${path} was changed: ${from} became ${to}`);
  }
}

function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`;
}

/** The part that differs, with a little around it: a change may sit at the end of a long text. */
function differing(old: string, now: string): { from: string; to: string } {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const from = Math.max(0, start - AROUND_CHARS);
  const after = Math.max(0, end - AROUND_CHARS);
  return { from: excerpt(old), to: excerpt(now) };

  function excerpt(text: string): string {
    const part = text.slice(from, text.length - after);
    const cut = part.length <= 2 * SHOWN_CHARS ? part : `${part.slice(0, 2 * SHOWN_CHARS)}…`;
    return `${from > 0 ? "…" : ""}${cut}${after > 0 ? "…" : ""}`;
  }
}
