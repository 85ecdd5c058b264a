// The answers that are being written in the session that is shown, by run.

import type { AnswerText } from "../../wire/home-records.ts";

export interface WrittenText {
  readonly run_id: string;
  readonly node_id: string;
  readonly text: string;
}

/** Each piece follows so much of what was there; one that begins behind it is of a text that was missed. */
export function withTexts(
  before: ReadonlyMap<string, WrittenText>,
  pieces: readonly AnswerText[],
): ReadonlyMap<string, WrittenText> {
  const next = new Map(before);
  for (const { run_id, node_id, offset, text } of pieces) {
    const known = next.get(run_id);
    const start = known?.node_id === node_id ? known.text : "";
    if (offset > start.length) continue;
    next.set(run_id, { run_id, node_id, text: start.slice(0, offset) + text });
  }
  return next;
}
