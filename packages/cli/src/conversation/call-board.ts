// The calls of a turn as a user watches them: one line for each that is queued, waits for a user or runs, and
// one for what became of it. Knows no terminal.

import { describeArguments, type Fact, type FactData, type ToolResult } from "@soong/core";
import { oneLine } from "@soong/schema";
import { cutToWidth } from "../terminal/styled-text.ts";
import {
  fit,
  formatDuration,
  measureWidth,
  visible,
  visibleLine,
  wrap,
  type Colours,
} from "../output/index.ts";

interface OpenCall {
  name: string;
  readonly about: string;
  state: "queued" | "waits for you" | "runs";
  since: number;
  progress: string;
  /** The last lines of its output. */
  tail: readonly string[];
}

/** So many have a line of their own; the rest is counted. */
const MOST_LINES = 8;
/** Of output, for all that run together. */
const MOST_TAIL_LINES = 5;

export function createCallBoard(now: () => number, colours: Colours) {
  const open = new Map<string, OpenCall>();

  return {
    requested(call: { tool_call_id: string; name: string; arguments: string }): void {
      const { tool_call_id, name, arguments: given } = call;
      open.set(tool_call_id, {
        name: visibleLine(name),
        about: describeCall(given),
        state: "queued",
        since: now(),
        progress: "",
        tail: [],
      });
    },
    /** `tool.started`, `tool.progress`, `permission.requested` or `permission.resolved`. */
    noted({ type, tool_call_id = "", tool_name, data }: Fact): void {
      const call = open.get(tool_call_id);
      if (call === undefined) return;
      if (tool_name !== undefined) call.name = visibleLine(tool_name);
      if (type === "tool.progress") {
        call.tail = tailOf(data);
        call.progress = progressWords(data, call.tail);
      }
      if (type === "tool.started") become(call, "runs");
      if (type === "permission.requested") become(call, "waits for you");
      if (type === "permission.resolved") become(call, "queued");
    },
    /** The line that stays; one that went well is cut to the width, why another did not is printed whole. */
    ended(result: ToolResult, columns: number): { readonly about: string; readonly line: string } {
      const about = open.get(result.tool_call_id)?.about ?? "";
      open.delete(result.tool_call_id);
      return { about, line: finalLine(result, about, columns, colours) };
    },
    /** None of them counts any more. */
    clear: () => open.clear(),
    get isEmpty() {
      return open.size === 0;
    },
    live(columns: number): string[] {
      const calls = [...open.values()];
      const more = calls.length - MOST_LINES;
      const shown = calls.slice(0, MOST_LINES);
      const talking = shown.filter(({ tail }) => tail.length > 0).length;
      const room = Math.max(1, Math.floor(MOST_TAIL_LINES / Math.max(1, talking)));
      return [
        ...shown.flatMap((call) => [
          liveLine(call, columns),
          ...call.tail.slice(-room).map((line) => outputLine(line, columns, colours)),
        ]),
        ...(more > 0 ? [colours.dim(`  and ${more} more`)] : []),
      ];
    },
  };

  function become(call: OpenCall, state: OpenCall["state"]): void {
    call.state = state;
    call.since = now();
  }

  function liveLine({ name, about, state, since, progress }: OpenCall, columns: number): string {
    const seconds = Math.floor((now() - since) / 1000);
    const time = seconds === 0 ? "" : ` ${formatDuration(seconds * 1000)}`;
    const head = `${SIGNS[state]} ${name} `;
    const tail = ` ${state}${time}${progress === "" ? "" : `: ${progress}`}`;
    // What it is about gives way first, but not to nothing.
    const room = Math.max(12, columns - head.length - tail.length - 1);
    return colours.cyan(fit(`${head}${fit(about, room)}${tail}`, columns - 1));
  }
}

const SIGNS = { queued: "·", "waits for you": "?", runs: "…" } as const;

function finalLine(
  result: ToolResult,
  about: string,
  columns: number,
  { dim, red, green }: Colours,
): string {
  const { tool_name, status, is_error, summary, error, metadata } = result;
  const { duration_ms } = metadata;
  // What never ran took no time.
  const time = duration_ms === 0 ? "" : ` ${formatDuration(duration_ms)}`;
  const words = visible(is_error ? (error?.message ?? summary) : summary).slice(0, LONGEST_WORDS);
  const target =
    about === "" || words.includes(about) ? "" : ` ${fit(about, Math.floor(columns / 3))}`;
  const name = `${visibleLine(tool_name)}${target}`;
  if (is_error) {
    // A command says itself that it failed.
    const said = words.startsWith(FAILED)
      ? words.slice(FAILED.length)
      : `${status}: ${words.replace(ABORTED, "")}`;
    const lines = `✗ ${name} ${said}${time}`.split("\n");
    const hidden = lines.splice(MOST_ERROR_LINES).length;
    if (hidden > 0) lines.push(`… ${hidden} more ${hidden === 1 ? "line" : "lines"}${time}`);
    const [first = "", ...more] = lines.flatMap((line) => wrapLine(line, columns - 1));
    return [red(first), ...more].join("\n");
  }
  const roomBeside = (shown: string): number => columns - 4 - measureWidth(shown) - time.length;
  // What it is about gives way to what came of it.
  const shown = roomBeside(name) < FEWEST_WORDS ? visibleLine(tool_name) : name;
  const said = fit(oneLine(words), Math.max(FEWEST_WORDS, roomBeside(shown)));
  return `${green("✓")} ${shown} ${dim(said + time)}`;
}

/** Its indent is kept: messages of several lines are lists. */
function wrapLine(line: string, width: number): string[] {
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  return wrap(line, width, indent);
}

const FAILED = "The command ";
const ABORTED = /^The run was aborted: /;
/** Arguments of a model may have a mistake in every field. */
const MOST_ERROR_LINES = 3;
const LONGEST_WORDS = 600;
const FEWEST_WORDS = 12;

/** A line of what a call wrote, below its own. */
export function outputLine(line: string, columns: number, { dim }: Colours): string {
  const text = visibleLine(line.replaceAll("\t", "    "));
  return dim(cutToWidth(`  │ ${text}`, Math.max(1, columns - 1)).text);
}

function tailOf({ data }: FactData<"tool.progress">): readonly string[] {
  const { tail } = (data ?? {}) as { readonly tail?: unknown };
  return Array.isArray(tail) ? tail.filter((line) => typeof line === "string") : [];
}

function progressWords(
  { message = "", progress, total }: FactData<"tool.progress">,
  tail: readonly string[],
): string {
  const of = total === undefined ? "" : `/${total}`;
  const count = progress === undefined ? "" : `${progress}${of}`;
  const last = message.trimEnd().split("\n").at(-1) ?? "";
  // It is below anyway.
  const words = tail.at(-1)?.trim() === last.trim() ? "" : last;
  return [count, visibleLine(words).trim()].filter((part) => part !== "").join(" ");
}

const MAX_ABOUT_CHARS = 200;

/** The file, the command or the words a call is for. `given`: the arguments as the model sent them, which need not be JSON. */
function describeCall(given: string): string {
  // Cut first: what comes from a model may be megabytes.
  const head = Array.from((describeArguments(given) ?? "").slice(0, 2 * MAX_ABOUT_CHARS));
  return visibleLine(head.slice(0, MAX_ABOUT_CHARS).join(""));
}
