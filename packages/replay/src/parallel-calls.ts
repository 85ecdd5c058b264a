// Which calls of a recorded run ran beside which, and whose end was a matter of time.

import type { ToolStatus } from "@soong/core";

export class ParallelCalls {
  readonly running = new Set<string>();
  readonly #beside = new Map<string, Set<string>>();
  readonly #ended = new Map<string, ToolStatus>();

  start(tool_call_id: string): void {
    for (const id of this.running) this.#beside.get(id)?.add(tool_call_id);
    this.#beside.set(tool_call_id, new Set(this.running));
    this.running.add(tool_call_id);
  }

  /** True: it ended on its own beside a failure, which might also have cancelled it. That is a matter of time. */
  end(tool_call_id: string, status: ToolStatus): boolean {
    this.running.delete(tool_call_id);
    this.#ended.set(tool_call_id, status);
    if (!ENDS_ON_ITS_OWN.has(status)) return false;
    return [...(this.#beside.get(tool_call_id) ?? [])].some((id) => {
      const other = this.#ended.get(id);
      return (
        other !== undefined && ENDS_ON_ITS_OWN.has(other) && [status, other].includes("failed")
      );
    });
  }
}

const ENDS_ON_ITS_OWN: ReadonlySet<ToolStatus> = new Set<ToolStatus>([
  "succeeded",
  "partial",
  "failed",
  "timed_out",
]);
