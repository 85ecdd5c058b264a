// Approval by LangGraph's own pause and resume: which calls pause, and whose answer it is that comes back.

import type { Run, ToolCall } from "@soong/core";
import type { HostApprovals } from "../kernel/index.ts";
import type { AnswerPlace, CallApproval } from "./answer-turns.ts";
import { readResume, type ApprovalPause } from "./approval-pause.ts";
import { findTask, findThread, getsSharedAnswer, type ToolConfig } from "./tool-config.ts";
import { WaitingCalls } from "./waiting-calls.ts";

export interface PausingCall {
  readonly call: ToolCall;
  readonly config: ToolConfig;
  readonly pause: ApprovalPause;
  /** Undefined where the loop does not say which answer it is of. */
  readonly place: AnswerPlace | undefined;
  /** All calls of that answer that the kernel gets. */
  readonly listCalls: () => readonly PlacedCall[];
}

export interface PlacedCall {
  readonly at: number;
  readonly call: ToolCall;
}

/** Rejects to pause. */
export type DecideApproval = (pausing: PausingCall) => Promise<CallApproval>;

export function createApprovalPauses(run: Run, approvals: HostApprovals): DecideApproval {
  const waiting = new WaitingCalls();

  return async ({ call, config, pause, place, listCalls }) => {
    if (config.interrupt === undefined) return {};
    const { answer, at } = place ?? { answer: `${findThread(config)}/${String(call.id)}`, at: 0 };
    // The plan that the user was shown is the one to compare with. What cannot be planned is refused by the kernel.
    const isNeeded =
      waiting.has(answer, at) || (await approvals.needsApproval(run, call).catch(() => false));
    if (!isNeeded) return {};
    if (findTask(config) === undefined && (await listAsking(listCalls())).length > 1) {
      return { denied: { reason: ONE_AT_A_TIME } };
    }
    const isShared = getsSharedAnswer(config);
    const resume = interrupt(config.interrupt, pause, () => waiting.add(answer, at));
    if (!isShared) {
      waiting.take(answer, at);
      return readResume(resume, { at: 0, count: 1 });
    }
    const known = waiting.takeShared(answer, at);
    const places = place === undefined ? [] : (known ?? (await listAsking(listCalls())));
    return readResume(resume, { at: places.indexOf(at), count: places.length });
  };

  /** Places of the calls that pause: after a restart, and where LangGraph has no task for each. */
  async function listAsking(calls: readonly PlacedCall[]): Promise<number[]> {
    const asking: number[] = [];
    for (const { at, call } of calls) {
      const explained = await run.explain(call).catch(() => undefined);
      if (explained?.outcome === "ask") asking.push(at);
    }
    return asking;
  }
}

/** LangGraph counts the interrupts of a task: it would be unclear which answer is for which call. */
const ONE_AT_A_TIME =
  "of the calls that require approval, this agent takes one at a time; call it again alone";

function interrupt(
  pauseTask: (value: unknown) => unknown,
  pause: ApprovalPause,
  onPaused: () => void,
): unknown {
  try {
    return pauseTask(pause);
  } catch (paused) {
    onPaused();
    throw paused;
  }
}
