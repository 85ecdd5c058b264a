// What a conversation has shown in short, to be shown whole on request: the results of its calls, newest last, and the text of the last
// answer as the model wrote it. Bounded; older results are in the store (`soong show`).

import type { ToolResult } from "@soong/core";
import { stripEscapes } from "@soong/core/internal";
import { renderDiff, visible, visibleLine, type Colours } from "../output/index.ts";
import { outputLine } from "./call-board.ts";

export type ShownResults = ReturnType<typeof createShownResults>;

export interface ShownResult {
  readonly about: string;
  readonly result: ToolResult;
}

const MOST_RESULTS = 100;
const MOST_CHARS = 8 * 1024 * 1024;

export function createShownResults() {
  let results: ShownResult[] = [];
  let chars = 0;
  /** How many were expanded since the last was added. */
  let expanded = 0;
  let answer = "";
  let isAnswerOver = true;

  return {
    add(one: ShownResult): void {
      results.push(one);
      chars += sizeOf(one);
      while (results.length > MOST_RESULTS || (chars > MOST_CHARS && results.length > 1)) {
        chars -= sizeOf(results[0]);
        results = results.slice(1);
      }
      expanded = 0;
      isAnswerOver = true;
    },
    /** More of the answer, or the beginning of one where the last is over. */
    say(text: string): void {
      answer = isAnswerOver ? text : answer + text;
      isAnswerOver = false;
    },
    answered(): void {
      isAnswerOver = true;
    },
    get answer() {
      return answer;
    },
    get count() {
      return results.length;
    },
    /** 1 is the newest. */
    at: (number: number): ShownResult | undefined => results[results.length - number],
    /** The newest; called again, the one before it. */
    next(): number {
      expanded = expanded >= results.length ? 1 : expanded + 1;
      return expanded;
    },
  };
}

function sizeOf(one: ShownResult | undefined): number {
  return one === undefined ? 0 : resultText(one.result).length;
}

/** What a call gave, as text: a change as its diff. */
export function resultText({ content, data, error }: ToolResult): string {
  const { diff } = (data ?? {}) as { readonly diff?: unknown };
  if (typeof diff === "string") return diff;
  const text = content
    .map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "json") return JSON.stringify(block.json, null, 2);
      return "text" in block ? block.text : "";
    })
    .filter((text) => text !== "")
    .map(stripEscapes)
    .join("\n");
  // A failure begins with its message, which is shown anyway.
  const message = error?.message ?? "";
  return message !== "" && text.startsWith(message) ? text.slice(message.length).trimStart() : text;
}

/** All there is of it here; more of it is in its artifacts. */
export function renderResult({ about, result }: ShownResult, colours: Colours): string {
  const { tool_name, data, is_error, status, artifacts, error } = result;
  const { bold, dim, red } = colours;
  const title = [visibleLine(tool_name), about].filter((part) => part !== "").join(" ");
  const text = resultText(result).trimEnd();
  const isDiff = typeof (data as { diff?: unknown } | undefined)?.diff === "string";
  const body = isDiff ? renderDiff(text, colours) : visible(text);
  const files = artifacts.map(
    ({ name = "artifact", size }) => `${visibleLine(name)}, ${size} bytes`,
  );
  return [
    bold(title) + (is_error ? red(` ${status}`) : ""),
    ...(is_error && error !== undefined ? [red(visible(error.message))] : []),
    ...(body === "" ? (is_error ? [] : [dim("(It gave nothing.)")]) : [body]),
    ...(files.length === 0 ? [] : [dim(`(Kept whole: ${files.join("; ")}.)`)]),
  ].join("\n");
}

/** Under the line of a call that has ended: of a failure what matters, of a command its end. */
export function renderExcerpt(
  result: ToolResult,
  { columns, colours, key }: { columns: number; colours: Colours; key: string },
): string[] {
  const { data, is_error, error } = result;
  const isCommand = typeof data === "object" && data !== null && "exit_code" in data;
  if (!isCommand && !is_error) return [];
  const lines = resultText(result)
    .split("\n")
    .filter((line) => line.trim() !== "" && line !== "stderr:" && line !== NOTHING);
  // Most errors say in their message what their text says.
  if (
    lines.length === 0 ||
    (!isCommand && lines.every((line) => error?.message.includes(line.trim())))
  ) {
    return [];
  }
  const picked = is_error ? pickLines(lines) : lines.slice(-MOST_LINES_WELL);
  const more = lines.length - picked.length;
  return [
    ...picked.map((line) => outputLine(line, columns, colours)),
    ...(more > 0
      ? [colours.dim(`  … ${more} more ${more === 1 ? "line" : "lines"}; ${key} shows all`)]
      : []),
  ];
}

/** Those that tell of an error, and the last ones, in their order. */
function pickLines(lines: readonly string[]): string[] {
  if (lines.length <= MOST_LINES_FAILED) return [...lines];
  const ends = new Set([...lines.keys()].slice(-LAST_LINES));
  const errors = [...lines.keys()].filter((at) => !ends.has(at) && TELLS.test(lines[at] ?? ""));
  const picked = new Set([...errors.slice(0, MOST_LINES_FAILED - LAST_LINES), ...ends]);
  const missing = MOST_LINES_FAILED - picked.size;
  for (let at = lines.length - LAST_LINES - 1, left = missing; left > 0 && at >= 0; at -= 1) {
    if (picked.has(at)) continue;
    picked.add(at);
    left -= 1;
  }
  return lines.filter((_, at) => picked.has(at));
}

const NOTHING = "(It wrote nothing.)";
const MOST_LINES_WELL = 3;
const MOST_LINES_FAILED = 9;
const LAST_LINES = 4;
const TELLS =
  /(?:error|exception)\b|\b(?:err!|fail(?:ed|ure|s)?|fatal|panic|traceback|undefined|cannot|can't|not found|denied|expected|assert\w*)\b|[✗✘×]|\bE\d{3,}\b/i;
