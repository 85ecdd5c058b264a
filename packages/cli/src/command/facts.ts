// A fact as a line for someone who follows a run: the model's text, or what happened; most facts have none.

import {
  describeFact,
  isTerminalFact,
  KERNEL_FACT_TEXTS,
  type Fact,
  type FactTexts,
  type FactType,
} from "@soong/core";
import { fit, visible, visibleLine, type Colours } from "../output/index.ts";
import { AGENT_FACT_TEXTS } from "@soong/agent";
import { TASK_FACT_TEXTS } from "@soong/tasks";

export type FactLine =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "line"; readonly text: string };

const MAX_LINE_CHARS = 300;

/** The types that are shown. */
const SHOWN: ReadonlySet<FactType> = new Set<FactType>([
  "tool.requested",
  "permission.resolved",
  "permission.failed",
  "run.started",
  "run.completed",
  "run.aborted",
  "run.failed",
  "error",
]);

export function renderFactLine(
  fact: Fact,
  texts: FactTexts,
  { red, yellow, dim }: Colours,
): FactLine | undefined {
  if (fact.type === "model.delta") return { kind: "text", text: visible(fact.data.text) };
  const isEnd = isTerminalFact(fact);
  if (!isEnd && !SHOWN.has(fact.type)) return undefined;
  const mark = isEnd ? "← " : fact.type === "tool.requested" ? "→ " : "";
  const about = fact.tool_name === undefined ? "" : `${fact.tool_name} `;
  const run = fact.type.startsWith("run.") ? `${fact.type.replace(".", " ")}: ` : "";
  const text = `${mark}${about}${run}${describeFact(fact, texts)}`;
  const isError = isEnd
    ? fact.data.result.is_error
    : fact.type === "run.failed" || fact.type === "error";
  const colour = isError ? red : fact.type === "permission.failed" ? yellow : dim;
  return { kind: "line", text: colour(fit(visibleLine(text), MAX_LINE_CHARS)) };
}

/** What every fact says. A fact type that no package describes does not compile here. */
export async function loadFactTexts(): Promise<FactTexts> {
  // Large, and not needed to print help.
  const { MCP_FACT_TEXTS } = await import("@soong/mcp");
  return { ...KERNEL_FACT_TEXTS, ...MCP_FACT_TEXTS, ...AGENT_FACT_TEXTS, ...TASK_FACT_TEXTS };
}
