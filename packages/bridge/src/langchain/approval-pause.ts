// The pause for approval, in the form that LangChain's own human-in-the-loop middleware has, so that the same user interface
// serves both: one action a pause, to approve or to reject.

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

/** What to resume with: `new Command({ resume })`, or by the id of the interrupt if there are several. */
export interface ApprovalResume {
  readonly decisions: readonly [
    { readonly type: "approve" } | { readonly type: "reject"; readonly message?: string },
  ];
}

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

/** Only a clear yes is one. */
export function readResume(resume: unknown): CallApproval {
  const decision = readDecision(resume);
  if (decision.type === "approve") return { isApproved: true };
  if (decision.type !== "reject") {
    return { denied: { reason: "the answer was neither approve nor reject" } };
  }
  const { message } = decision;
  return { denied: typeof message === "string" && message !== "" ? { reason: message } : {} };
}

function readDecision(resume: unknown): { readonly type?: unknown; readonly message?: unknown } {
  if (typeof resume !== "object" || resume === null) return {};
  const decisions: unknown = "decisions" in resume ? resume.decisions : [resume];
  const [decision, ...others] = Array.isArray(decisions) ? (decisions as unknown[]) : [];
  return others.length === 0 && typeof decision === "object" && decision !== null ? decision : {};
}
