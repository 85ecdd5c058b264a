// A fact as a row of the journal: what it says, in one line of plain words.

import { isTerminalFact, type Fact } from "@soong/core";
import type { FactRow } from "../wire/index.ts";
import { aboutCall } from "./about-call.ts";
import { FACT_WORDS } from "./fact-words.ts";
import { oneLine } from "./one-line.ts";
import { dataIn, textIn, type Data } from "./read-data.ts";

const MOST_LINE_CHARS = 300;

export function factLine(fact: Fact): FactRow {
  const { seq, time, type, level, run_id, tool_call_id, tool_name } = fact;
  return {
    seq,
    time,
    type,
    level,
    ...(run_id === undefined ? {} : { run_id }),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(tool_name === undefined ? {} : { tool_name }),
    text: oneLine(wordsOf(fact), MOST_LINE_CHARS),
  };
}

function wordsOf({ type, data: given }: Fact): string {
  const data = dataIn(given);
  if (isTerminalFact(type)) return resultWords(dataIn(data["result"]), type);
  if (type === "tool.requested") return aboutCall(data["model_input"]) ?? "without arguments";
  return (Object.hasOwn(FACT_WORDS, type) ? FACT_WORDS[type]?.(data) : undefined) ?? anyWords(data);
}

function resultWords(result: Data, type: string): string {
  const status = textIn(result, "status") ?? type.slice("tool.".length);
  const summary = textIn(result, "summary");
  return summary === undefined ? status : `${status}: ${summary}`;
}

const TELLING = ["message", "reason", "title", "summary", "note", "text", "status", "name"];

/** Of a fact that is not known here: whatever it has to say for itself. */
function anyWords(data: Data): string {
  const told = TELLING.map((field) => textIn(data, field)).find((text) => text !== undefined);
  const about = ["task_id", "step_id", "server_id"].flatMap((field) => textIn(data, field) ?? []);
  return [about.join(" "), told ?? ""].filter((text) => text !== "").join(": ");
}
