// A run as it is compared with another one: the models that answered, and its calls with what was decided about each.

import type { Fact } from "@soong/core";
import { firstChars, omitUndefined } from "@soong/schema";
import type { Lane, RecordedCall } from "../wire/session-records.ts";
import { readDecisions } from "./call-story.ts";
import { asText } from "./read-data.ts";
import { soundFact } from "./sound-fact.ts";

const MOST_INPUT_CHARS = 4000;

/** In the order in which they answered first. */
export function runModels(facts: readonly Fact[]): string[] {
  const models = facts.flatMap((given) => {
    const fact = soundFact(given);
    return fact.type === "model.started" ? [fact.data.model] : [];
  });
  return [...new Set(models)].filter((model) => model !== "");
}

/** The node of the last answer, whole or cut off. */
export function lastAnswerNode(facts: readonly Fact[]): string | undefined {
  for (const given of facts.toReversed()) {
    const fact = soundFact(given);
    if (fact.type !== "model.completed" && fact.type !== "model.failed") continue;
    if (fact.data.node_id !== undefined) return fact.data.node_id;
  }
  return undefined;
}

/** `lanes`: of one run, and `facts` all of its facts. */
export function recordedCalls(lanes: readonly Lane[], facts: readonly Fact[]): RecordedCall[] {
  const byCall = new Map<string, Fact[]>();
  for (const fact of facts.map(soundFact)) {
    const { tool_call_id } = fact;
    if (tool_call_id === undefined) continue;
    const known = byCall.get(tool_call_id);
    if (known === undefined) byCall.set(tool_call_id, [fact]);
    else known.push(fact);
  }
  return lanes.map((lane) => {
    const { tool_call_id, tool_name, spans, summary, outcome } = lane;
    const own = byCall.get(tool_call_id) ?? [];
    const requested = own.find((fact) => fact.type === "tool.requested")?.data.model_input;
    const atOf = ({ time }: Fact): number => Date.parse(time) || 0;
    const { decisions } = readDecisions(own, atOf, lane.ended_seq !== undefined);
    const began = spans[0]?.[1];
    const ended = spans.at(-1)?.[2];
    return omitUndefined({
      tool_call_id,
      tool_name,
      input: firstChars(asText(requested), MOST_INPUT_CHARS),
      summary,
      outcome,
      duration_ms:
        typeof began === "number" && typeof ended === "number" ? ended - began : undefined,
      decisions: decisions.map(({ by, decision }) => ({ by, decision })),
    });
  });
}
