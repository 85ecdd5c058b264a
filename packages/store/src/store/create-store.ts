// A store made of what its database gives it.

import type { Clock, IdSource } from "@soong/core";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { ClusterStorage } from "../contract/cluster.ts";
import type { Durability, Store } from "../contract/store.ts";
import type { SqlDatabase, SqlPart, SqlWriter } from "../sql/sql.ts";
import { createTaskTables } from "../tasks/task-tables.ts";
import { createQuestionTable, wakeForQuestions } from "./question-table.ts";
import { addCopyPort } from "./copy-port.ts";
import { createStoreWriter, type StoreWriter, type StoreWriterParts } from "./store-writer.ts";
import type { StoreTables } from "./store-tables.ts";

export interface StoreOptions {
  /** The home directory: the database goes to `store/`, artifacts to `artifacts/`, runs to `runs/`. */
  readonly directory: string;
  /** `postgres://…`: facts, conversations, artifacts and tasks are in that database, and shared with all who have its URL. */
  readonly url?: string | undefined;
  /** Nothing is written, not even a newer version of the tables. */
  readonly readOnly?: boolean;
  readonly clock?: Pick<Clock, "now">;
  readonly ids?: IdSource;
  /** How long to wait for other processes that are writing, or for a database that is away. Default: 2 minutes. */
  readonly busyTimeoutMs?: number | undefined;
  /** A database does not answer. It is tried again, for so long. */
  readonly onAway?: (ms: number) => void;
  /** It answers again. */
  readonly onBack?: () => void;
  /** For a database of many machines: how long a session stays with a process that is cut off. Default: 1 minute. */
  readonly leaseMs?: number | undefined;
  /** Default: `standard`. */
  readonly durability?: Durability | undefined;
  /** For tests that kill the process at the worst moment. */
  readonly at?: AtCrashPoint;
}

/** With the defaults. */
export interface StoreSetting extends StoreOptions {
  readonly readOnly: boolean;
  readonly clock: Pick<Clock, "now">;
  readonly ids: IdSource;
  readonly busyTimeoutMs: number;
}

/** What a database gives the store. */
export interface StoreParts {
  readonly database: SqlDatabase;
  readonly tables: StoreTables;
  /** The time of a database that is not on this machine. */
  readonly databaseClock?: SqlPart;
  readonly heldSessions: Store["heldSessions"];
  readonly cluster?: ClusterStorage;
  /** Undefined where nothing may be written. */
  readonly writing?:
    | Omit<StoreWriterParts, "database" | "tables" | "home" | "ids" | "clock" | "at">
    | undefined;
  close(): void | Promise<void>;
}

export async function createStore(parts: StoreParts, setting: StoreSetting): Promise<Store> {
  const { database, tables, writing } = parts;
  let closing: Promise<void> | undefined;
  const forWriting: SqlWriter = {
    transaction: (steps, sync) => refuseReadOnly().writer.transaction(steps, sync),
    patientTransaction: async (steps) => refuseReadOnly().writer.patientTransaction(steps),
  };
  const shared = {
    database,
    writer: forWriting,
    *sessionNumber(session_id: string) {
      return (yield* tables.knownRow(session_id)).session_no;
    },
  };
  const tasks = createTaskTables({
    ...shared,
    ...(parts.databaseClock && { databaseClock: parts.databaseClock }),
  });
  const questions = wakeForQuestions(createQuestionTable(shared), parts.cluster);
  let writer: StoreWriter | undefined;
  try {
    const { directory: home, ids, clock, at } = setting;
    if (writing !== undefined) {
      writer = await createStoreWriter({
        ...writing,
        database,
        tables,
        home,
        ids,
        clock,
        databaseClock: parts.databaseClock,
        at,
      });
    }
  } catch (error) {
    await parts.close();
    throw error;
  }

  const store: Store = {
    ...tables,
    heldSessions: parts.heldSessions,
    tasks: () => tasks,
    questions: () => questions,
    cluster: parts.cluster,
    createSession: async (session) => findWriter().createSession(session),
    openSession: async (session_id) => findWriter().openSession(session_id),
    removeSession: async (session_id, reason) => findWriter().removeSession(session_id, reason),
    applyRetention: async (retention) => findWriter().applyRetention(retention),
    rebuildSession: async (session_id) => findWriter().rebuildSession(session_id),
    rebuildRunFolder: async (run_id) => findWriter().rebuildRunFolder(run_id),
    runFolderProblems: () => writer?.runFolderProblems() ?? [],
    close() {
      closing ??= close();
      return closing;
    },
  };
  return addCopyPort(store, parts);

  function refuseReadOnly(): NonNullable<StoreParts["writing"]> {
    database.refuseClosed();
    if (writing !== undefined) return writing;
    const message = `The store ${database.name} was opened for reading only.`;
    throw new StoreError("store_read_only", message);
  }

  function findWriter(): StoreWriter {
    refuseReadOnly();
    return writer as StoreWriter;
  }

  async function close(): Promise<void> {
    try {
      await writer?.close();
    } finally {
      await parts.close();
    }
  }
}
