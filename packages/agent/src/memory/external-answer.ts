// What an external memory has answered, as it comes into a conversation: quoted line by line, within a budget. It is data, like
// any memory.

import type { ContextNode, ToolResult } from "@soong/core";
import { isEmptyResult } from "@soong/core/internal";
import { estimateTextTokens } from "../context/index.ts";
import { sha256 } from "./memory-entry.ts";
import { NOTES_RANK } from "./recall.ts";

export interface ExternalAnswer {
  /** Undefined: nothing was found. */
  readonly node?: ContextNode;
  /** Lines there was no room for. */
  readonly left_out: number;
  readonly tokens: number;
}

export function readAnswer(
  result: ToolResult,
  about: { readonly tool: string; readonly why: string; readonly tokens: number },
): ExternalAnswer {
  const { tool, why, tokens: budget } = about;
  if (isEmptyResult(result)) return NOTHING;
  const text = result.content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
  if (isEmptyAnswer(text)) return NOTHING;
  const { lines, left_out } = cutToTokens(text.split(/\r\n|\n|\r/), budget);
  const quoted = lines.map((line) => `> ${line}`).join("\n");
  return {
    node: {
      kind: "memory_context",
      text: `Memories that ${tool} recalled ${why}. ${NOTES_RANK}\n\n${quoted}`,
      data: { memories: [], tool_name: tool, sha256: sha256(quoted) },
    },
    left_out,
    tokens: estimateTextTokens(quoted),
  };
}

const NOTHING: ExternalAnswer = { left_out: 0, tokens: 0 };

/** Many servers say "nothing" as JSON with empty lists in it. */
function isEmptyAnswer(text: string): boolean {
  if (text === "") return true;
  try {
    return !holdsSomething(JSON.parse(text));
  } catch {
    return false;
  }
}

function holdsSomething(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return Object.values(value).some(holdsSomething);
}

function cutToTokens(
  lines: readonly string[],
  budget: number,
): { lines: string[]; left_out: number } {
  const taken: string[] = [];
  let tokens = 0;
  for (const line of lines) {
    tokens += estimateTextTokens(`> ${line}\n`);
    if (tokens > budget) {
      // One long line, as JSON often is, is cut rather than lost.
      if (taken.length === 0)
        return { lines: [`${line.slice(0, budget * 2)}…`], left_out: lines.length - 1 };
      break;
    }
    taken.push(line);
  }
  return { lines: taken, left_out: lines.length - taken.length };
}
