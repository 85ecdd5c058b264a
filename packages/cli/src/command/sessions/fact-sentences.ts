// Facts as sentences, with the time and the call they are about. Calls are numbered as they were requested.

import { describeFact, isTerminalFact, type Fact, type FactTexts } from "@soong/core";
import { fit, visibleLine, wrap, type Colours, type Output } from "../../output/index.ts";

const MOST_CHARS = 300;
const NARROW = 60;

export function createFactSentences(
  output: Pick<Output, "colours" | "width">,
  texts: FactTexts,
): (fact: Fact) => string[] {
  const numbers = new Map<string, number>();

  return (fact) => {
    const { colours, width } = output;
    const { seq, type, time } = fact;
    const number = width < NARROW ? "" : `${String(seq).padStart(5)} `;
    const head = `${number}${formatClock(time)}  `;
    const indent = " ".repeat(head.length);
    const sentence = `${fit(visibleLine(describe(fact)), MOST_CHARS)} · ${type}`;
    const [first = "", ...more] = wrap(breakWords(sentence, width - indent.length), width, indent);
    const colour = chooseColour(fact, colours);
    return [
      `${colours.dim(head)}${colour(first.trimStart())}`,
      ...more.map((line) => `${indent}${colour(line.trimStart())}`),
    ];
  };

  function describe(fact: Fact): string {
    const { type, tool_call_id, tool_name } = fact;
    const said = describeFact(fact, texts);
    if (tool_call_id === undefined) return said;
    const number = numbers.get(tool_call_id) ?? numbers.size + 1;
    numbers.set(tool_call_id, number);
    const call = `#${number} ${tool_name ?? tool_call_id}`;
    // The id is what `soong undo` takes.
    return type === "tool.requested"
      ? `${call} requested: ${said} (${tool_call_id})`
      : `${call}: ${said}`;
  }
}

/** A word that is longer than a line gets several. */
function breakWords(text: string, room: number): string {
  return text.replaceAll(new RegExp(`\\S{${room}}(?=\\S)`, "gu"), "$& ");
}

/** What only shows how it came about steps back. */
const DETAILS: ReadonlySet<string> = new Set([
  "run.queued",
  "artifact.created",
  "tool.catalog.resolved",
  "context.resolved",
  "routing.decided",
  "model.started",
  "tool.validated",
  "tool.queued",
  "tool.yielded",
  "tool.progress",
  "hook.started",
  "hook.completed",
  "sandbox.applied",
]);

const WARNING: ReadonlySet<string> = new Set([
  "permission.requested",
  "sandbox.missing",
  "sandbox.violation",
]);

function chooseColour(fact: Fact, { red, yellow, green, dim }: Colours): (text: string) => string {
  const { type, level } = fact;
  if (level === "error" || (isTerminalFact(fact) && fact.data.result?.is_error)) return red;
  if (level === "warn" || WARNING.has(type)) return yellow;
  if (type === "tool.completed" || type === "run.completed") return green;
  return DETAILS.has(type) ? dim : (text) => text;
}

/** As the reader's clock shows it. */
function formatClock(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "??:??:??.???";
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  const clock = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
