// Tasks on SQLite: a change is one transaction, begun for writing, so that no one else changes what it has read.

import { setTimeout as delay } from "node:timers/promises";
import type { TaskStorage } from "@soong/tasks";
import { StoreError } from "../contract/index.ts";
import type { Query } from "../session/index.ts";
import { findRows, listTasks } from "./find-rows.ts";
import { writeRows, type SessionNumber } from "./write-rows.ts";

export interface TaskTablesParts {
  readonly query: Query;
  /** All of the work or nothing, soon or with `store_locked`; throws on a store that is only read. */
  readonly tryTransaction: <T>(work: () => T) => T;
  readonly sessionNumber: SessionNumber;
  /** How long to wait for others who are writing. */
  readonly busyTimeoutMs: number;
}

/** Many processes claim steps at the same time: each waits a little, not the same, and asks again. */
const LONGEST_PAUSE_MS = 40;

export function createTaskTables(parts: TaskTablesParts): TaskStorage {
  const { query, tryTransaction, sessionNumber, busyTimeoutMs } = parts;

  return {
    change: (selection, plan) =>
      inTurn(() =>
        tryTransaction(() => {
          const planned = plan(findRows(query, selection));
          writeRows(query, selection.task_id, planned, sessionNumber);
          return planned.answer;
        }),
      ),
    async read(selection) {
      query("BEGIN");
      try {
        return findRows(query, selection);
      } finally {
        query("COMMIT");
      }
    },
    list: async (page) => listTasks(query, page),
  };

  /** Without holding up the process, which has heartbeats to send and calls to run. */
  async function inTurn<T>(attempt: () => T): Promise<T> {
    const until = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        const isBusy = error instanceof StoreError && error.code === "store_locked";
        if (!isBusy || performance.now() >= until) throw error;
      }
      await delay(1 + Math.random() * LONGEST_PAUSE_MS);
    }
  }
}
