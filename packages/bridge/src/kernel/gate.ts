// For loops that start all calls of an answer at once: what they start in one tick is one turn, in the order they start it
// (MODEL-6). So reads run in parallel, a write runs alone, and what comes after a failed write is skipped.

import type { RefusedCall, Run, ToolCall } from "@soong/core";
import {
  BridgedTurn,
  type CallOptions,
  type CallOutcome,
  type PushedCall,
} from "./bridged-turn.ts";
import type { HostApprovals } from "./host-approvals.ts";

export interface Gate {
  /** One call of the loop. Never rejects: unknown, invalid, denied and aborted calls have a result too. */
  execute(call: ToolCall, options?: CallOptions): Promise<CallOutcome>;
  /** The same, for a loop that follows the call under the id that it has on record. */
  push(call: ToolCall, options?: CallOptions): PushedCall;
  /** A call that the host's user, or the host, has refused: it is not executed, and on record as rejected. */
  refuse(call: ToolCall, refused?: string | RefusedCall): Promise<CallOutcome>;
  /** A turn whose calls are known one by one, as in a stream; they are not gathered. */
  openTurn(): BridgedTurn;
}

export function createGate(run: Run, approvals?: HostApprovals): Gate {
  let gathering: BridgedTurn | undefined;
  /** Those in which a hook may still end the run; once one has, it stays here. */
  let turns: BridgedTurn[] = [];

  return { execute, push, refuse, openTurn };

  async function execute(call: ToolCall, options?: CallOptions): Promise<CallOutcome> {
    return push(call, options).outcome;
  }

  function push(call: ToolCall, options?: CallOptions): PushedCall {
    gathering ??= gather();
    return gathering.push(call, options);
  }

  async function refuse(call: ToolCall, refused: string | RefusedCall = {}): Promise<CallOutcome> {
    const turn = openTurn();
    const denied = typeof refused === "string" ? { reason: refused } : refused;
    const { outcome } = turn.push(call, { denied });
    turn.end();
    return outcome;
  }

  function gather(): BridgedTurn {
    const turn = openTurn();
    // After the promises that are ready: loops await a little before each of their calls.
    setImmediate(() => {
      gathering = undefined;
      turn.end();
    });
    return turn;
  }

  function openTurn(): BridgedTurn {
    turns = turns.filter((one) => one.stopped !== undefined || !one.isSettled);
    const stopped = turns.find((one) => one.stopped !== undefined)?.stopped;
    const turn = new BridgedTurn(run, approvals);
    turns.push(turn);
    // The loop does not know that a hook ended the run, so what it still calls is not executed.
    if (stopped !== undefined) void turn.abort(`a hook ended the run: ${stopped.reason}`);
    return turn;
  }
}
