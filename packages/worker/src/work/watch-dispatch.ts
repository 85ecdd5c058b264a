// Whether a dispatch still wants its step done: before it is begun, and while it is worked on.

import { SoongError } from "@soong/core";
import type { CallRecord, Store } from "@soong/store";
import type { JobWork } from "../dispatch/index.ts";
import type { WorkerHost } from "./worker-host.ts";

/** Whether the dispatching call is open and not withdrawn, and a process holds its session. */
export async function isWanted(store: Store, { from }: JobWork): Promise<boolean> {
  const { session_id, run_id, tool_call_id } = from;
  const [held, withdrawal, calls] = await Promise.all([
    store.heldSessions([session_id]),
    store.cluster?.readWithdrawal({ run_id, tool_call_id }),
    readCalls(),
  ]);
  const isOpen = calls.some((call) => call.tool_call_id === tool_call_id);
  return held.length > 0 && withdrawal === undefined && isOpen;

  async function readCalls(): Promise<readonly CallRecord[]> {
    const reader = await store.readSession(session_id).catch((error: unknown) => {
      if (error instanceof SoongError) return undefined;
      throw error;
    });
    return (await reader?.calls({ run_id, isOpen: true })) ?? [];
  }
}

/** The dispatching run cannot stop a run that it does not know of yet, so the worker looks for a withdrawal. */
export function watchWithdrawal(
  { store: { cluster }, tasks: { leaseMs } }: WorkerHost,
  { from: { run_id, tool_call_id } }: JobWork,
  onWithdrawn: (reason: string) => void,
): () => void {
  if (cluster === undefined) return () => {};
  const look = async (): Promise<void> => {
    const reason = await cluster.readWithdrawal({ run_id, tool_call_id });
    if (reason !== undefined) onWithdrawn(reason);
  };
  // If the database is unreachable, the next look tries again.
  const lookSafely = (): void => void look().catch(() => {});
  const timer = setInterval(lookSafely, leaseMs / 3);
  const unlisten = cluster.listen(`dispatch/${run_id}`, lookSafely);
  return () => {
    clearInterval(timer);
    unlisten();
  };
}
