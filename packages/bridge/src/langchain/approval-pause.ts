// The pause for approval, in the form that LangChain's own human-in-the-loop middleware has. That one pauses once for all calls
// of an answer; here each call pauses, with one action to approve or to reject.

import type { CallApproval } from "./answer-turns.ts";

/** The value of the interrupt. */
export interface ApprovalPause {
  readonly actionRequests: readonly [
    {
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly description: string;
    },
  ];
  readonly reviewConfigs: readonly [
    { readonly actionName: string; readonly allowedDecisions: readonly ["approve", "reject"] },
  ];
  readonly tool_call_id: string | undefined;
}

/** What to resume with, by the id of each interrupt: `new Command({ resume: { [interrupt.id]: answer } })`. */
export interface ApprovalResume {
  readonly decisions: readonly ApprovalDecision[];
}

export type ApprovalDecision =
  | { readonly type: "approve" }
  | { readonly type: "reject"; readonly message?: string };

export function describePause(call: {
  readonly id: string | undefined;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}): ApprovalPause {
  const { id, name, args } = call;
  const description = `${name} requires approval`;
  return {
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ["approve", "reject"] }],
    tool_call_id: id,
  };
}

/** Which of the calls that an answer is for this one is. LangGraph gives an answer without an id to all that wait. */
export interface AnsweredCall {
  readonly at: number;
  readonly count: number;
}

/** Only a clear yes to this very call is one: the answer has one decision for each call that it is for, in call order. */
export function readResume(resume: unknown, { at, count }: AnsweredCall): CallApproval {
  const decisions = listDecisions(resume);
  if (decisions.length !== count)
    return { denied: { reason: count === 1 ? UNCLEAR : NOT_CLEAR_TO_WHAT } };
  const { type, message } = asDecision(decisions[at]);
  if (type === "approve") return { isApproved: true };
  if (type !== "reject") return { denied: { reason: UNCLEAR } };
  return { denied: typeof message === "string" && message !== "" ? { reason: message } : {} };
}

const NOT_CLEAR_TO_WHAT =
  "the answer does not say which of several calls it is for; each is to be answered by the id of its interrupt";
const UNCLEAR = "the answer was neither approve nor reject";

function listDecisions(resume: unknown): unknown[] {
  if (typeof resume !== "object" || resume === null) return [resume];
  if (!("decisions" in resume)) return [resume];
  return Array.isArray(resume.decisions) ? (resume.decisions as unknown[]) : [];
}

function asDecision(value: unknown): { readonly type?: unknown; readonly message?: unknown } {
  return typeof value === "object" && value !== null ? value : {};
}
