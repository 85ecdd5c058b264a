// For hosts that ask before each call whether it needs approval: the calls of one answer get their answers together. So those
// that need none start in one tick, as one turn, however long each of the plans took.

import type { Run, ToolCall } from "@soong/core";
import type { HostApprovals } from "./host-approvals.ts";

/** Never rejects: a call that cannot be planned needs no approval, the kernel refuses it. */
export type ApprovalCheck = (call: ToolCall) => Promise<boolean>;

export function createApprovalCheck(run: Run, approvals: HostApprovals): ApprovalCheck {
  let gathering: Gathering | undefined;

  return async (call) => {
    const answer = approvals.needsApproval(run, call).catch(() => false);
    gathering ??= gather();
    gathering.answers.push(answer);
    await gathering.complete;
    return answer;
  };

  function gather(): Gathering {
    const answers: Promise<boolean>[] = [];
    const complete = new Promise<void>((resolve) => {
      setImmediate(() => {
        gathering = undefined;
        void Promise.all(answers).then(() => resolve());
      });
    });
    return { answers, complete };
  }
}

interface Gathering {
  readonly answers: Promise<boolean>[];
  readonly complete: Promise<void>;
}
