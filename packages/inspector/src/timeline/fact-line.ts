// A fact as a row of the journal: what it says, in one line.

import { describeFact, KERNEL_FACT_TEXTS, type Fact, type FactTexts } from "@soong/core";
import type { FactRow } from "../wire/session-records.ts";
import { MOST_SUMMARY_CHARS, oneLine } from "./read-data.ts";
import { soundFact } from "./sound-fact.ts";

const MOST_LINE_CHARS = 300;

export function factLine(fact: Fact, texts: Partial<FactTexts> = KERNEL_FACT_TEXTS): FactRow {
  const { seq, time, type, level, run_id, tool_call_id, tool_name } = fact;
  const most = type === "tool.requested" ? MOST_SUMMARY_CHARS : MOST_LINE_CHARS;
  const text = oneLine(describeFact(soundFact(fact), texts), most);
  return { seq, time, type, level, run_id, tool_call_id, tool_name, text };
}
