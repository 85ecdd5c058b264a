// What a fact says to somebody who looks over a run's shoulder: the text of the model, or a line; most say nothing.

import { isTerminalFact, type Fact, type FactType } from "@soong/core";
import { fit, visible, visibleLine, type Colours } from "../output/index.ts";

export type FactLine =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "line"; readonly text: string };

const MAX_LINE_CHARS = 300;

export function factLine(fact: Fact, colours: Colours): FactLine | undefined {
  const data = fact.data as Readonly<Record<string, unknown>>;
  if (isTerminalFact(fact.type)) return resultLine(fact.tool_name, data, colours);
  return LINES.get(fact.type)?.(fact, data, colours);
}

type Line = (
  fact: Fact,
  data: Readonly<Record<string, unknown>>,
  colours: Colours,
) => FactLine | undefined;

const ofRun: Line = ({ type, run_id = "" }, _, { dim }) =>
  line(dim, `${type.replace(".", " ")}: ${run_id}`);

const LINES: ReadonlyMap<FactType, Line> = new Map<FactType, Line>([
  ["model.delta", (_, { text }) => ({ kind: "text", text: visible(textIn(text)) })],
  [
    "tool.requested",
    ({ tool_name = "" }, { model_input }, { dim }) =>
      line(dim, `→ ${tool_name} ${textIn(model_input)}`),
  ],
  [
    "permission.resolved",
    ({ tool_name = "" }, { answered_by = "somebody", decision }, { dim }) =>
      line(dim, `${textIn(answered_by)} answered about ${tool_name}: ${textIn(decision)}`),
  ],
  [
    "permission.failed",
    ({ tool_name = "" }, { message }, { yellow }) =>
      line(yellow, `${tool_name}: ${textIn(message)}`),
  ],
  ["run.started", ofRun],
  ["run.completed", ofRun],
  ["run.aborted", ofRun],
  [
    "run.failed",
    (_, { error }, { red }) => {
      const { message, code } = (error ?? {}) as Record<string, unknown>;
      return line(red, `run failed: ${textIn(message ?? code)}`);
    },
  ],
  ["error", (_, { message }, { red }) => line(red, textIn(message))],
]);

function resultLine(
  tool_name = "",
  { result }: Readonly<Record<string, unknown>>,
  { red, dim }: Colours,
): FactLine {
  const { status, summary, is_error } = (result ?? {}) as Record<string, unknown>;
  const text = `← ${tool_name} ${textIn(status)}: ${textIn(summary)}`;
  return line(is_error === true ? red : dim, text);
}

function line(colour: (text: string) => string, text: string): FactLine {
  return { kind: "line", text: colour(fit(visibleLine(text), MAX_LINE_CHARS)) };
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}
