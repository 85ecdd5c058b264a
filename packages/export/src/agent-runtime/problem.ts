// What is wrong with a log of events, and by which rule.

export type AgentRuntimeRule =
  | "unique_event_ids"
  | "monotone_sequence"
  | "tool_started_is_the_request"
  | "one_terminal_event"
  | "decision_before_running"
  | "no_running_after_deny"
  | "turn_pairs"
  | "action_pairs"
  | "attempt_pairs"
  | "refs_resolve";

export interface AgentRuntimeProblem {
  readonly rule: AgentRuntimeRule;
  readonly message: string;
  /** Of the event that breaks the rule. */
  readonly eventId: string | undefined;
}
