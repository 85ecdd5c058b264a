// Calls of the host in the kernel. The host starts them one by one and decides which run beside each other, so each is a turn;
// a write that fails stops the calls after it in the same answer.

import type { ToolCall } from "@soong/core";
import {
  createGate,
  watchProgress,
  type BridgeRun,
  type CallOptions,
  type CallOutcome,
  type Gate,
  type HostApprovals,
  type Progress,
  type PushedCall,
} from "../kernel/index.ts";
import { createAnswerBatches, type AnswerBatches } from "./answer-batches.ts";

export type CallProgress = Progress & { readonly tool_call_id: string; readonly tool_name: string };

export interface KernelCalls {
  readonly batches: AnswerBatches;
  /** For `ExternalTools`. */
  readonly gate: Gate;
  /** Never rejects. */
  execute(
    call: ToolCall,
    options?: CallOptions,
    onProgress?: (progress: Progress) => void,
  ): Promise<CallOutcome>;
  /** The host's user said no. */
  refuse(call: ToolCall, reason: string | undefined): Promise<CallOutcome>;
  /** Not executed, for a reason of the bridge. */
  skip(call: ToolCall, reason: string): Promise<CallOutcome>;
}

export function createKernelCalls(
  run: BridgeRun,
  approvals: HostApprovals | undefined,
  onProgress: ((progress: CallProgress) => void) | undefined,
): KernelCalls {
  const inner = createGate(run, approvals);
  const batches = createAnswerBatches();
  const gate: Gate = { ...inner, execute, push: (call, options) => push(call, options) };

  return { batches, gate, execute, refuse, skip };

  async function execute(
    call: ToolCall,
    options?: CallOptions,
    onOwnProgress?: (progress: Progress) => void,
  ): Promise<CallOutcome> {
    return push(call, options, onOwnProgress).outcome;
  }

  function push(
    call: ToolCall,
    options?: CallOptions,
    onOwnProgress?: (progress: Progress) => void,
  ): PushedCall {
    const stop = call.id === undefined ? undefined : batches.findStop(call.id);
    if (stop !== undefined) return pushSkipped(call, stop);
    const turn = inner.openTurn();
    const { tool_call_id, outcome } = turn.push(call, options);
    turn.end();
    const { run_id } = run.identity;
    const stopWatching = watchProgress(run.session, { run_id, tool_call_id }, (progress) => {
      onOwnProgress?.(progress);
      onProgress?.({ ...progress, tool_call_id, tool_name: call.name });
    });
    const noted = outcome.then((ended) => {
      stopWatching();
      return noteEnd(call, ended);
    });
    return { tool_call_id, outcome: noted };
  }

  async function refuse(call: ToolCall, reason: string | undefined): Promise<CallOutcome> {
    return noteEnd(call, await inner.refuse(call, reason));
  }

  async function skip(call: ToolCall, reason: string): Promise<CallOutcome> {
    return pushSkipped(call, reason).outcome;
  }

  /** On record as aborted, with the reason. */
  function pushSkipped(call: ToolCall, reason: string): PushedCall {
    const turn = inner.openTurn();
    const { tool_call_id, outcome } = turn.push(call);
    void turn.abort(reason);
    const content = [{ type: "text" as const, text: `Not run, because ${reason}.` }];
    const skipped = outcome.then(({ result, added }) => ({
      result: { ...result, content },
      added,
    }));
    return { tool_call_id, outcome: skipped };
  }

  function noteEnd({ id }: ToolCall, ended: CallOutcome): CallOutcome {
    const { is_error, tool_name } = ended.result;
    const standing = run.surface.standing.get(tool_name);
    const isWrite = standing?.tool !== undefined && !standing.tool.effects.read_only;
    if (id !== undefined && is_error && isWrite) batches.fail(id, tool_name);
    return ended;
  }
}
