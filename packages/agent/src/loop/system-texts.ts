// The system text of a request, block by block with where each is from (CTX-4): our own first, then what is deferred
// and what hooks say, instruction files below all of that, and what sources of tools say of themselves last.

import type { ModelTools } from "@soong/core";
import { renderInstructions, type InstructionBlocks } from "../context/index.ts";
import type { Running } from "./running.ts";
import { renderSourceNotes } from "./tool-provider.ts";

export interface SystemText {
  readonly from: "static" | "deferred_tools" | "hook" | "instructions" | "tool_source";
  readonly text: string;
}

export function buildSystemTexts(
  running: Running,
  { deferred, unlisted }: ModelTools,
  { blocks }: InstructionBlocks,
): SystemText[] {
  const { system, session, run } = running;
  const list = deferred.map(({ name, hint }) => (hint === "" ? name : `${name}: ${hint}`));
  if (unlisted.count > 0) list.push(describeUnlisted(list.length, unlisted));
  const search = `These tools can be found with the tool search before they are used:\n${list.join("\n")}`;
  const texts: readonly [SystemText["from"], readonly string[]][] = [
    ["static", system],
    ["deferred_tools", list.length === 0 ? [] : [search]],
    ["hook", session.context],
    ["instructions", blocks.map(renderInstructions)],
    ["tool_source", renderSourceNotes(running.toolProvider)],
  ];
  return texts.flatMap(([from, all]) =>
    all.map((text) => ({ from, text: run.redactor.text(text) })),
  );
}

/** How many are not named, from where they are, and how they are found. */
function describeUnlisted(named: number, { count, sources }: ModelTools["unlisted"]): string {
  const from = sources.map((source) => `${source.id} (${source.count})`).join(", ");
  return `${named === 0 ? "" : "… and "}${count} more that are not listed, of ${from}. Search for them with keywords of what the tool does.`;
}
