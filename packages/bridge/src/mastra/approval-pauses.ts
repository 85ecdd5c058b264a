// Mastra asks a tool whether a call needs approval without saying which call, once before it pauses and again when it resumes,
// also in another process. It executes a call for which the answer is yes only if the user has approved it.

import type { Run } from "@soong/core";
import { packArguments, unpackInput, type HostApprovals } from "../kernel/index.ts";

export interface ApprovalPauses {
  /** The model made this call, with this text for arguments. */
  noteCall(name: string, text: string, id: string): void;
  needsApproval(name: string, input: unknown): Promise<boolean>;
  /** Whether the call that Mastra executes now is one that it has paused for: then the user approved it. */
  takeApproval(name: string, input: unknown, id: string | undefined): boolean;
  /** Whether a call that has its result was paused for and not executed: then the user declined it. */
  takeDecline(name: string, input: unknown, id: string): boolean;
}

export function createApprovalPauses(run: Run, approvals: HostApprovals): ApprovalPauses {
  /** Ids of the newest calls, by what they are. Empty after a restart: the plan is then not known that the user was shown. */
  const ids = new Map<string, string[]>();
  /** What is waiting for the user, or was until now. */
  const paused = new Set<string>();
  const executed = new Set<string>();

  return {
    noteCall(name, text, id) {
      const key = callKey(name, JSON.parse(packArguments(text)));
      // The model calls it again: that needs a new answer, for a new plan.
      const known = paused.delete(key) ? [] : (ids.get(key) ?? []);
      ids.set(key, [...known, id]);
    },
    async needsApproval(name, input) {
      const key = callKey(name, input);
      // The plan of the first time is the one that the user is shown.
      if (paused.has(key)) return true;
      const calls = (ids.get(key) ?? [undefined]).map((id) => ({
        name,
        arguments: unpackInput(input),
        ...(id !== undefined && { id }),
      }));
      const answers = await Promise.all(
        calls.map(async (call) => approvals.needsApproval(run, call).catch(() => false)),
      );
      const isNeeded = answers.includes(true);
      if (isNeeded) paused.add(key);
      else ids.delete(key);
      return isNeeded;
    },
    takeApproval(name, input, id) {
      if (id !== undefined) executed.add(id);
      const key = callKey(name, input);
      ids.delete(key);
      return paused.delete(key);
    },
    takeDecline(name, input, id) {
      return !executed.delete(id) && paused.delete(callKey(name, input));
    },
  };
}

function callKey(name: string, input: unknown): string {
  return `${name} ${JSON.stringify(input)}`;
}
