// Approvals that the host's own pause and resume collects (its user interface, its stored state): the kernel still decides
// whether a call needs one, and gets the answer from the host instead of a callback.

import {
  NoOneToAsk,
  type AskPermission,
  type Explanation,
  type PermissionAnswer,
  type Run,
  type ToolCall,
} from "@soong/core";

export interface HostApprovals {
  /** Pass it to `openSession` or `startRun`. */
  readonly ask: AskPermission;
  /** Whether the host has to pause for this call. The plan that it explains is what an approval is bound to. */
  needsApproval(run: Run, call: ToolCall): Promise<boolean>;
  /** The host's user said yes to this call. */
  approve(run_id: string, tool_call_id: string): void;
  /** The host's user said no to this call. The reason reaches the model. */
  deny(run_id: string, tool_call_id: string, reason?: string): void;
}

export function createHostApprovals(): HostApprovals {
  /** By run and call: the digest of the plan the host was shown; undefined after a restart, when it is not known. */
  const shown = new Map<string, string>();
  const answers = new Map<string, PermissionAnswer>();

  return {
    async ask({ run_id, tool_call_id, tool_name, digest }): Promise<PermissionAnswer> {
      const key = callKey(run_id, tool_call_id);
      const planned = shown.get(key);
      shown.delete(key);
      const answer = answers.get(key);
      answers.delete(key);
      if (answer === undefined) {
        throw new NoOneToAsk(
          `${tool_name} needs approval, and the host was not asked for it before the call`,
        );
      }
      if (answer.decision !== "deny" && planned !== undefined && planned !== digest) {
        throw new NoOneToAsk(
          "what it would do has changed since it was approved; call it again to have the new plan approved",
        );
      }
      return answer;
    },
    async needsApproval(run, call) {
      const explained: Explanation = await run.explain(call);
      if (explained.outcome !== "ask") return false;
      if (call.id !== undefined) shown.set(callKey(run.identity.run_id, call.id), explained.digest);
      return true;
    },
    approve(run_id, tool_call_id) {
      answers.set(callKey(run_id, tool_call_id), { decision: "allow_once", answered_by: "host" });
    },
    deny(run_id, tool_call_id, reason) {
      answers.set(callKey(run_id, tool_call_id), {
        decision: "deny",
        answered_by: "host",
        ...(reason !== undefined && { reason }),
      });
    },
  };
}

function callKey(run_id: string, tool_call_id: string): string {
  return `${run_id}/${tool_call_id}`;
}
