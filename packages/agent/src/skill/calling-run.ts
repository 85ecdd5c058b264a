// The run behind a call of ours: what it may use, where its facts go, and what its conversation has. The loop's activeRuns give
// it; a call that no conversation made has none.

import type { CallIds, ConversationNode, Run } from "@soong/core";
import { readPath } from "../context/index.ts";

export interface CallingRun {
  readonly run: Pick<Run, "surface" | "recorder" | "openTurn">;
  /** The conversation as it is now, root first. */
  path(): readonly ConversationNode[];
}

/** `activeRuns.find` of the loop's activeRuns is one. */
export type FindRun = (ids: CallIds) => CallingRun | undefined;

/** What the next request can hold of a conversation: a compaction stands for all before it. */
export function listNodesInView(calling: CallingRun | undefined): readonly ConversationNode[] {
  return readPath(calling?.path() ?? []).units.flatMap(({ nodes }) => nodes);
}
