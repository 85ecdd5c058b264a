// The approvals a child waits for (PIPE-6): meanwhile its own clock is paused, and so is that of the call that
// started it.

import type { OnPersonAsked, ToolContext } from "@soong/core";
import type { ChildDeadline } from "./child-deadline.ts";

export interface ChildWaits {
  /** Calls of the child that wait for an answer. */
  readonly open: ReadonlySet<string>;
  /** For the child's run. */
  readonly onPersonAsked: OnPersonAsked;
  /** A call that has ended no longer waits, even if its handler still runs. */
  ended(tool_call_id: string): void;
  close(): void;
}

export function createChildWaits(
  context: Pick<ToolContext, "waitForPerson">,
  deadline: Pick<ChildDeadline, "pause" | "resume">,
): ChildWaits {
  const open = new Set<string>();
  let answered = (): void => {};

  return {
    open,
    onPersonAsked: ({ tool_call_id, waits }) => (waits ? begin(tool_call_id) : ended(tool_call_id)),
    ended,
    close: () => answered(),
  };

  function begin(tool_call_id: string): void {
    const isFirst = open.size === 0;
    open.add(tool_call_id);
    if (!isFirst) return;
    deadline.pause();
    const answer = new Promise<void>((resolve) => {
      answered = resolve;
    });
    context.waitForPerson(answer).catch(() => {});
  }

  function ended(tool_call_id: string): void {
    if (!open.delete(tool_call_id) || open.size > 0) return;
    deadline.resume();
    answered();
  }
}
