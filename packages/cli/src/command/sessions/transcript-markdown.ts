// One entry of a transcript as Markdown.

import { describeArguments } from "@soong/core";
import type { TranscriptEntry } from "../../conversation/transcript.ts";
import { visible, visibleLine } from "../../output/index.ts";

export type ShownEntry = {
  readonly agent_id: string;
  /** 0: the main agent; its children have 1. */
  readonly depth: number;
} & (
  | Exclude<TranscriptEntry, { kind: "call" }>
  | (Extract<TranscriptEntry, { kind: "call" }> & {
      /** What was asked about it, and what was answered. */
      readonly questions?: readonly string[];
      /** What users see of its result. */
      readonly summary?: string;
    })
  /** An agent that the call before started. */
  | { readonly kind: "child"; readonly agent_definition_id: string; readonly task: string }
);

const MOST_LINES = 10;
const MOST_CHARS = 1000;

/** `full`: with whole arguments and results. */
export function renderEntry(entry: ShownEntry, { full }: { readonly full: boolean }): string[] {
  const quote = "> ".repeat(entry.depth);
  const lines = renderLines(entry, full).map((line) => `${quote}${line}`.trimEnd());
  // A quotation begins behind an empty line.
  return entry.kind === "child" ? ["", ...lines] : [quote.trimEnd(), ...lines];
}

function renderLines(entry: ShownEntry, full: boolean): string[] {
  switch (entry.kind) {
    case "prompt":
      return ["## Prompt", "", ...split(entry.text)];
    case "answer":
      return [`## Answer (${visibleLine(entry.model)})`, "", ...split(entry.text.trim())];
    case "call":
      return renderCall(entry, full);
    case "compaction":
      return [
        "*What came before was summed up for the model.*",
        ...(full ? ["", ...split(entry.text)] : []),
      ];
    case "child":
      return [`**Agent ${visibleLine(entry.agent_definition_id)}**: ${visibleLine(entry.task)}`];
  }
}

function renderCall(entry: Extract<ShownEntry, { kind: "call" }>, full: boolean): string[] {
  const { tool_name, status = "not ended", questions = [], summary = "", result = "" } = entry;
  const about = visibleLine(describeArguments(entry.arguments) ?? "");
  const target = full || about === "" ? "" : ` ${codeSpan(shortened(about))}`;
  const ended =
    summary === "" || summary === status ? status : `${status}: ${visibleLine(summary)}`;
  return [
    `**${visibleLine(tool_name)}**${target}: ${ended}`,
    ...(questions.length === 0 ? [] : ["", ...questions.map((one) => `- ${visibleLine(one)}`)]),
    ...(full && entry.arguments !== "" ? ["", ...fence(entry.arguments, "json")] : []),
    ...(["", summary.trim()].includes(result.trim())
      ? []
      : ["", ...fence(full ? result : cut(result), "text")]),
  ];
}

const MOST_ABOUT = 120;

function shortened(text: string): string {
  return text.length <= MOST_ABOUT ? text : `${Array.from(text).slice(0, MOST_ABOUT).join("")}…`;
}

function cut(text: string): string {
  const lines = text.trimEnd().split("\n");
  const most = lines.slice(0, MOST_LINES);
  while (most.length > 1 && most.join("\n").length > MOST_CHARS) most.pop();
  const kept = most.join("\n");
  const short =
    kept.length > MOST_CHARS ? `${Array.from(kept).slice(0, MOST_CHARS).join("")}…` : kept;
  const left = lines.length - most.length;
  if (left === 0 && short === kept) return short;
  const what = left === 0 ? "it continues" : `${left} more ${left === 1 ? "line" : "lines"}`;
  return `${short}\n… ${what}; \`soong show --full\` shows all`;
}

/** Longer than any in the text, so that nothing in it ends the block. */
function fence(text: string, language: string): string[] {
  const ticks = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return [`${ticks}${language}`, ...split(text.trimEnd()), ticks];
}

function codeSpan(text: string): string {
  const ticks = "`".repeat(longestTicks(text) + 1);
  const space = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${ticks}${space}${text}${space}${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

function split(text: string): string[] {
  return visible(text).split("\n");
}
