// Mastra asks a tool whether a call needs approval without saying which call, once before it pauses and again when it resumes,
// also in another process. It executes a call for which the answer is yes only if the user has approved it. So calls are noted
// by their ids before it asks, and an approval is for one id.

import { createHash } from "node:crypto";
import type { Run } from "@soong/core";
import { canonicalJson, isRecord } from "@soong/schema";
import { unpackInput, type HostApprovals } from "../kernel/index.ts";

export interface ApprovalPauses {
  /** Mastra may ask about this call next: the model made it, or Mastra continues with it, perhaps after a restart. */
  noteCall(call: NotedCall): void;
  needsApproval(name: string, input: unknown): Promise<boolean>;
  /** Mastra executes the call with this id. Whether it has paused for it: then the user approved it. */
  takeApproval(id: string | undefined): boolean;
  /** The call with this id has its result. Whether it was paused for and not executed: then the user declined it. */
  takeDecline(id: string): boolean;
  /** Before each request: only calls that wait for the user are still to come. */
  forgetCalls(): void;
}

export interface NotedCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export function createApprovalPauses(run: Run, approvals: HostApprovals): ApprovalPauses {
  const calls = new Map<string, PendingCall>();

  return {
    noteCall({ id, name, input }) {
      const likeness = describeCall(name, input);
      // Noted again when it resumes: the plan of the first time is the one that the user was shown.
      if (calls.get(id)?.likeness === likeness) return;
      calls.set(id, { id, likeness, isPaused: false, isAsked: false });
    },
    async needsApproval(name, input) {
      const likeness = describeCall(name, input);
      const alike = [...calls.values()].filter((call) => call.likeness === likeness);
      const fresh = alike.filter(({ answer }) => answer === undefined);
      for (const call of fresh) call.answer = askFor(call, name, input);
      const meant = fresh.length > 0 ? fresh : alike;
      // A call that was not noted cannot be approved, so the kernel refuses it: there is nothing to pause for.
      const answers = await Promise.all(meant.map(async ({ answer }) => answer));
      return answers.includes(true);
    },
    takeApproval(id) {
      const call = calls.get(id ?? "");
      if (call !== undefined) calls.delete(call.id);
      return call?.isPaused === true;
    },
    takeDecline(id) {
      const call = calls.get(id);
      if (call?.isPaused !== true) return false;
      return calls.delete(id);
    },
    forgetCalls() {
      for (const { id, isAsked, isPaused } of calls.values()) {
        if (!isAsked && !isPaused) calls.delete(id);
      }
    },
  };

  async function askFor(call: PendingCall, name: string, input: unknown): Promise<boolean> {
    call.isAsked = true;
    const asked = { id: call.id, name, arguments: unpackInput(input) };
    call.isPaused = await approvals.needsApproval(run, asked).catch(() => false);
    call.isAsked = false;
    return call.isPaused;
  }
}

interface PendingCall {
  readonly id: string;
  readonly likeness: string;
  /** The kernel is planning it. */
  isAsked: boolean;
  isPaused: boolean;
  answer?: Promise<boolean>;
}

/** The same for calls that are alike, and short. A store may have changed the order of members. */
function describeCall(name: string, input: unknown): string {
  const text = canonicalJson([name, isRecord(input) ? omitResumeData(input) : input]);
  return createHash("sha256").update(text).digest("base64");
}

/** Mastra takes this member out before it asks. */
function omitResumeData({ resumeData: _data, ...rest }: Record<string, unknown>): object {
  return rest;
}
