// Reads what earlier attempts at a step did, each from the session of its worker.

import { readEarlierCalls } from "@soong/agent";
import type { SessionReader, Store } from "@soong/store";
import type { TaskCaller } from "@soong/tasks";

export function createReadCalls(store: Store): NonNullable<TaskCaller["readCalls"]> {
  return async (run_ids) => {
    const found = await Promise.all(
      run_ids.map(async (run_id) => {
        const run = await store.findRun(run_id);
        if (run === undefined) return [];
        const reader = await store.readSession(run.session_id);
        return readEarlierCalls(toJournal(reader, run_id), [run_id]);
      }),
    );
    return found.flat();
  };
}

function toJournal(reader: SessionReader, run_id: string): Parameters<typeof readEarlierCalls>[0] {
  return { read: (after, limit) => reader.facts({ after, limit, run_id }) };
}
