// A call with its progress, for a loop that may wait for it only long after its start.

import type { BridgeRun } from "./bridge-run.ts";
import type { PushedCall } from "./bridged-turn.ts";
import { watchProgress, type Progress } from "./watch-progress.ts";

export interface FollowedCall extends PushedCall {
  /** Calls back with the progress since the start of the call, until its end. */
  onProgress(listener: (progress: Progress) => void): void;
}

/** Of what is reported before anyone listens, the latest is kept. */
const MAX_KEPT = 32;

export function followCall({ session, identity }: BridgeRun, pushed: PushedCall): FollowedCall {
  const { tool_call_id, outcome } = pushed;
  const kept: Progress[] = [];
  let report = (progress: Progress): void => {
    kept.push(progress);
    if (kept.length > MAX_KEPT) kept.shift();
  };
  const { run_id } = identity;
  const stop = watchProgress(session, { run_id, tool_call_id }, (progress) => report(progress));
  void outcome.then(stop);
  return {
    ...pushed,
    onProgress(listener) {
      report = listener;
      for (const progress of kept.splice(0)) listener(progress);
    },
  };
}
