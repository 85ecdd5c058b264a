// A fact as a line for someone who follows a run: the model's text, or what happened; most facts have none.

import { describeFact, isTerminalFact, type Fact, type FactType } from "@soong/core";
import { fit, visible, visibleLine, type Colours } from "../output/index.ts";
import { FACT_TEXTS } from "./fact-texts.ts";

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

export function factLine(fact: Fact, { red, yellow, dim }: Colours): FactLine | undefined {
  if (fact.type === "model.delta") return { kind: "text", text: visible(fact.data.text) };
  const isEnd = isTerminalFact(fact);
  if (!isEnd && !SHOWN.has(fact.type)) return undefined;
  const mark = isEnd ? "← " : fact.type === "tool.requested" ? "→ " : "";
  const about = fact.tool_name === undefined ? "" : `${fact.tool_name} `;
  const run = fact.type.startsWith("run.") ? `${fact.type.replace(".", " ")}: ` : "";
  const text = `${mark}${about}${run}${describeFact(fact, FACT_TEXTS)}`;
  const isError = isEnd
    ? fact.data.result.is_error
    : fact.type === "run.failed" || fact.type === "error";
  const colour = isError ? red : fact.type === "permission.failed" ? yellow : dim;
  return { kind: "line", text: colour(fit(visibleLine(text), MAX_LINE_CHARS)) };
}
