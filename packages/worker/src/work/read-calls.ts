// Reads what earlier attempts at a step did, each from the session of its worker.

import { readEarlierCalls } from "@soong/agent";
import { StoreError, type SessionReader, type Store, type StoreErrorCode } from "@soong/store";
import type { EarlierCall, TaskCaller } from "@soong/tasks";

export function createReadCalls(store: Store): NonNullable<TaskCaller["readCalls"]> {
  return async (run_ids) => {
    const found = await Promise.all(
      run_ids.map(async (run_id) => {
        const run = await store.findRun(run_id);
        if (run === undefined) return [];
        try {
          const reader = await store.readSession(run.session_id);
          return await readEarlierCalls(toJournal(reader, run_id), [run_id]);
        } catch (error) {
          if (error instanceof StoreError && UNREADABLE.has(error.code))
            return [unknownCalls(run_id)];
          throw error;
        }
      }),
    );
    return found.flat();
  };
}

function toJournal(reader: SessionReader, run_id: string): Parameters<typeof readEarlierCalls>[0] {
  return { read: (after, limit) => reader.facts({ after, limit, run_id }) };
}

/** The session was changed by hand, or removed. */
const UNREADABLE: ReadonlySet<StoreErrorCode> = new Set(["store_corrupted", "session_removed"]);

function unknownCalls(run_id: string): EarlierCall {
  const tool_name = "(its calls cannot be read)";
  return { run_id, tool_call_id: "", tool_name, status: "unknown", targets: [] };
}
