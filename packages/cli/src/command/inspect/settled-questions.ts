// Questions that were settled a moment ago, so that whoever answers too late hears what was said, and by whom.

import { InspectorError } from "@soong/inspector";
import type { Settled } from "./validate-control-messages.ts";

export interface SettledQuestions {
  add(settled: Settled): void;
  /** For an answer that no one waits for. */
  refusal(question_id: string): InspectorError;
}

const REMEMBERED = 200;

export function createSettledQuestions(): SettledQuestions {
  const remembered = new Map<string, Settled>();
  return {
    add(settled) {
      remembered.set(settled.question_id, settled);
      const [oldest] = remembered.keys();
      if (remembered.size > REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    },
    refusal: (question_id) =>
      new InspectorError("settled", `Too late: ${describeOutcome(remembered.get(question_id))}.`),
  };
}

function describeOutcome(settled: Settled | undefined): string {
  if (settled === undefined) return "this question was answered already, or its call is gone";
  const { outcome, answered_by = "someone else", decision, action } = settled;
  if (outcome === "cancelled") return "the call is gone, or did not wait any longer";
  if (outcome === "nobody") return "no one was there to answer, so it was denied";
  const answer = decision ?? action;
  return `${answered_by} has answered${answer === undefined ? "" : ` ${answer.replaceAll("_", " ")}`}`;
}
