// The runs that are under way, found by the ids a call has. What the agent and the task tools know of their caller comes
// from here, and never from arguments.

import { ToolFailure, type CallIds } from "@soong/core";
import type { ActiveRun, RunRegistry } from "../loop/index.ts";

export interface ActiveRuns extends RunRegistry {
  find(ids: Pick<CallIds, "sessionId" | "runId">): ActiveRun | undefined;
  /** Throws for a call that no run of the loop has made. */
  get(ids: CallIds): ActiveRun;
}

export function createActiveRuns(): ActiveRuns {
  const runs = new Map<string, ActiveRun>();
  const find: ActiveRuns["find"] = ({ sessionId, runId }) => runs.get(runKey(sessionId, runId));

  return {
    add(active) {
      const { session_id, run_id } = active.run.identity;
      runs.set(runKey(session_id, run_id), active);
    },
    remove({ run }) {
      const { session_id, run_id } = run.identity;
      runs.delete(runKey(session_id, run_id));
    },
    find,
    get(ids) {
      const active = find(ids);
      if (active !== undefined) return active;
      throw new ToolFailure({
        code: "no_conversation",
        error_class: "capability_gap",
        message: `${ids.toolName} works for an agent in its conversation; this call was made outside of one.`,
        recovery: "use_another_tool",
      });
    },
  };
}

function runKey(session_id: string, run_id: string): string {
  return JSON.stringify([session_id, run_id]);
}
