// Approvals that the host's own pause and resume collects (its user interface, its stored state): the kernel still decides
// whether a call needs one, and gets the answer from the host instead of a callback.

import { canonicalJson } from "@soong/schema";
import { NoOneToAsk, type AskPermission, type Run, type ToolCall } from "@soong/core";

export interface HostApprovals {
  /** Pass it to `openSession` or `startRun`. */
  readonly ask: AskPermission;
  /** Whether the host has to pause for this call. The plan that it explains is what an approval is bound to. */
  needsApproval(run: Run, call: ToolCall): Promise<boolean>;
  /** The host's user said yes to this call, which has this id on record. */
  approve(run_id: string, tool_call_id: string, call: ToolCall): void;
}

export function createHostApprovals(): HostApprovals {
  /** By call: the digest of the plan the host was shown. Not known after a restart. */
  const shown = new Map<string, string>();
  /** Approvals that were used: each is for one execution, until the host pauses for the call again. */
  const used = new Set<string>();
  /** By the id on record. */
  const approved = new Map<string, Approved>();

  return {
    async ask({ run_id, tool_call_id, tool_name, digest }) {
      const key = `${run_id}/${tool_call_id}`;
      const { planned, isUsed = false } = approved.get(key) ?? {};
      if (!approved.delete(key)) {
        throw new NoOneToAsk(
          `${tool_name} needs approval, and the host was not asked for it before the call`,
        );
      }
      if (isUsed) throw new NoOneToAsk("its approval was used before, and is for one execution");
      if (planned !== undefined && planned !== digest) {
        throw new NoOneToAsk(
          "what it would do has changed since it was approved; call it again to have the new plan approved",
        );
      }
      return { decision: "allow_once", answered_by: "host" };
    },
    async needsApproval(run, call) {
      const explained = await run.explain(call);
      if (explained.outcome !== "ask") return false;
      const key = callKey(run.identity.run_id, call);
      shown.set(key, explained.digest);
      used.delete(key);
      return true;
    },
    approve(run_id, tool_call_id, call) {
      const key = callKey(run_id, call);
      const isUsed = used.has(key);
      approved.set(`${run_id}/${tool_call_id}`, { planned: shown.get(key), isUsed });
      shown.delete(key);
      // Without an id, two calls that are alike cannot be distinguished.
      if (call.id !== undefined) used.add(key);
    },
  };
}

interface Approved {
  readonly planned: string | undefined;
  readonly isUsed: boolean;
}

/** By the loop's id: the kernel replaces one that was used before. A call without one is known by what it is. */
function callKey(run_id: string, { id, name, arguments: given }: ToolCall): string {
  return canonicalJson([run_id, id ?? [name, readArguments(given)]]);
}

/** A loop may have parsed them in between. */
function readArguments(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return given;
  }
}
