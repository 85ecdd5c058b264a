// What a call of the SDK returns: plain JSON, so that it can be stored with the messages and shown in a user interface.

import type { ContentBlock, ToolStatus } from "@soong/core";
import { renderBlocks, type CallOutcome, type Progress } from "../kernel/index.ts";

export interface BridgedOutput {
  /** `running`: a preliminary output, which reports progress. */
  readonly status: ToolStatus | "running";
  readonly is_error: boolean;
  /** What the model gets. */
  readonly content: readonly ContentBlock[];
  readonly progress?: Progress;
}

export function createOutput(outcome: CallOutcome): BridgedOutput {
  const { status, is_error, content } = outcome.result;
  return {
    status,
    is_error,
    content: outcome.added.length === 0 ? content : renderBlocks(outcome),
  };
}

export function createProgressOutput(progress: Progress): BridgedOutput {
  return { status: "running", is_error: false, content: [], progress };
}
