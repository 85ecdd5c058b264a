// What a log of Agent Runtime events says that cannot have happened so: rules over the events of one session, which no
// schema of single events can check.

import { CallRules } from "./call-rules.ts";
import { IdRules } from "./id-rules.ts";
import { PairRules } from "./pair-rules.ts";
import type { AgentRuntimeProblem } from "./problem.ts";
import { readRecord, type UncheckedRecord } from "../projection/read-fields.ts";
import { RefRules } from "./ref-rules.ts";

/** The rules that the events of one session break, in order. Takes events of any producer, as objects of their JSON. */
export function findAgentRuntimeProblems(events: Iterable<unknown>): AgentRuntimeProblem[] {
  const problems: AgentRuntimeProblem[] = [];
  const rules: readonly Rules[] = [
    new IdRules(problems),
    new CallRules(problems),
    new PairRules(problems),
    new RefRules(problems),
  ];
  for (const event of events) {
    const record = readRecord(event);
    for (const rule of rules) rule.check(record);
  }
  for (const rule of rules) rule.end?.();
  return problems;
}

interface Rules {
  check(event: UncheckedRecord): void;
  /** After the last event. */
  end?(): void;
}
