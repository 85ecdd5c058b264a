// What is wrong with a log of records, and by which rule.

export type AgentToolRule =
  | "known_record_type"
  | "unique_ids"
  | "monotone_sequence"
  | "one_result"
  | "decision_before_start"
  | "no_start_after_deny"
  | "started_is_execution"
  | "nothing_after_end"
  | "refs_resolve";

export interface AgentToolProblem {
  readonly rule: AgentToolRule;
  readonly message: string;
  /** Of the invocation, or of the record, that breaks the rule. */
  readonly id: string | undefined;
}

export type Report = (rule: AgentToolRule, id: string | undefined, message: string) => void;
