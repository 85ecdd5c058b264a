// The runs that are under way, found by the ids a call has. What the agent and the task tools know of their caller comes
// from here, and never from arguments.

import { ToolFailure, type CallIds } from "@soong/core";
import type { RunSeat, RunSeats } from "../loop/index.ts";

export interface Seats extends RunSeats {
  find(ids: Pick<CallIds, "sessionId" | "runId">): RunSeat | undefined;
  /** Throws for a call that no run of the loop has made. */
  of(ids: CallIds): RunSeat;
}

export function createSeats(): Seats {
  const taken = new Map<string, RunSeat>();
  const find: Seats["find"] = ({ sessionId, runId }) => taken.get(keyOf(sessionId, runId));

  return {
    entered(seat) {
      const { session_id, run_id } = seat.run.identity;
      taken.set(keyOf(session_id, run_id), seat);
    },
    left({ run }) {
      const { session_id, run_id } = run.identity;
      taken.delete(keyOf(session_id, run_id));
    },
    find,
    of(ids) {
      const seat = find(ids);
      if (seat !== undefined) return seat;
      throw new ToolFailure({
        code: "no_conversation",
        error_class: "capability_gap",
        message: `${ids.toolName} works for an agent in its conversation; this call was made outside of one.`,
        recovery: "use_another_tool",
      });
    },
  };
}

function keyOf(session_id: string, run_id: string): string {
  return JSON.stringify([session_id, run_id]);
}
