// Which units a request takes when not all fit (CTX-3): the newest, whole, and a note of what was asked in those
// that are omitted. Pure.

import { estimateMessageTokens, estimateTextTokens } from "./estimate-tokens.ts";
import { messageText, cutMiddle } from "./message-node.ts";
import { toModelMessages, type ContextUnit } from "./read-path.ts";

export interface ContextPlan {
  readonly kept: readonly ContextUnit[];
  readonly omitted: readonly ContextUnit[];
  /** Goes before the kept ones; there whenever something is omitted. */
  readonly note?: string;
  readonly tokens: number;
}

/** Of one omitted message: an eighth of the budget, within these. */
const LEAST_NOTED_CHARS = 200;
const MOST_NOTED_CHARS = 4000;

/** The newest unit is kept even where it alone is too much: then the provider has the last word. */
export function planContext(units: readonly ContextUnit[], budgetTokens: number): ContextPlan {
  const sizes = units.map(estimateUnitTokens);
  let tokens = sizes.reduce((sum, size) => sum + size, 0);
  if (tokens <= budgetTokens || units.length < 2) return { kept: units, omitted: [], tokens };
  for (let from = 1; ; from += 1) {
    // A summary stays where it is: it is all there is of what came before it.
    if (units[from - 1]?.kind !== "summary") tokens -= sizes[from - 1] ?? 0;
    const isLast = from === units.length - 1;
    if (tokens > budgetTokens && !isLast) continue;
    const plan = planFrom(units, from, tokens, budgetTokens);
    if (plan.tokens <= budgetTokens || isLast) return plan;
  }
}

function planFrom(
  units: readonly ContextUnit[],
  from: number,
  tokens: number,
  budgetTokens: number,
): ContextPlan {
  const kept = units.filter((unit, i) => i >= from || unit.kind === "summary");
  const omitted = units.filter((unit, i) => i < from && unit.kind !== "summary");
  if (omitted.length === 0) return { kept, omitted, tokens };
  const eighth = Math.floor(budgetTokens / 2);
  const note = writeOmissionNote(
    omitted,
    Math.min(MOST_NOTED_CHARS, Math.max(LEAST_NOTED_CHARS, eighth)),
  );
  return { kept, omitted, note, tokens: tokens + estimateTextTokens(note) };
}

function writeOmissionNote(omitted: readonly ContextUnit[], maxChars: number): string {
  const asked = omitted.flatMap((unit) =>
    unit.kind === "user" ? [messageText(unit.nodes.flatMap(({ content }) => content))] : [],
  );
  const first = asked[0];
  const last = asked.length > 1 ? asked.at(-1) : undefined;
  return [
    `Earlier messages (${omitted.length}) were omitted, because they do not fit.`,
    ...(first === undefined ? [] : [`The task, as first asked: ${cutMiddle(first, maxChars)}`]),
    ...(last === undefined ? [] : [`Last asked in them: ${cutMiddle(last, maxChars)}`]),
  ].join("\n\n");
}

export function estimateUnitTokens(unit: ContextUnit): number {
  return estimateMessageTokens(
    toModelMessages([unit], unit.kind === "answer" ? unit.answer.model : ""),
  );
}
