// What a log of Agent Tool records says that cannot have happened so: rules over the records of one session, which no schema
// of single records can check.

import { IdRules } from "./id-rules.ts";
import { InvocationRules } from "./invocation-rules.ts";
import type { AgentToolProblem, Report } from "./problem.ts";
import { readRecord } from "../projection/read-fields.ts";
import { ReferenceRules } from "./reference-rules.ts";

/**
 * The rules that the records of one session break, in order. Takes records of any producer, as objects of their JSON, if
 * each names its kind in `record_type`. A log that does not begin with its session may refer to records before it.
 */
export function findAgentToolProblems(records: Iterable<unknown>): AgentToolProblem[] {
  const problems: AgentToolProblem[] = [];
  const report: Report = (rule, id, message) => {
    problems.push({ rule, message, id });
  };
  const rules = [new IdRules(report), new InvocationRules(report), new ReferenceRules(report)];
  for (const given of records) {
    const record = readRecord(given);
    for (const rule of rules) rule.check(record);
  }
  for (const rule of rules) rule.end();
  return problems;
}
