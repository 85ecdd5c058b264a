// Progress of calls, for loops that show it.

import type { FactData, FactType, Session } from "@soong/core";

export type Progress = FactData<"tool.progress">;

const PROGRESS = new Set<FactType>(["tool.progress"]);

/** Calls back with each progress of this call; returns how to stop that. */
export function watchProgress(
  session: Session,
  { run_id, tool_call_id }: { readonly run_id: string; readonly tool_call_id: string },
  onProgress: (progress: Progress) => void,
): () => void {
  return session.watch({ types: PROGRESS, run_id }, (read) => {
    const fact = read();
    if (fact.type === "tool.progress" && fact.tool_call_id === tool_call_id) onProgress(fact.data);
  });
}
