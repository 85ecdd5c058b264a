// What a copy of a session needs of the two stores beside what everyone may do with them: their tables.

import { StoreError } from "../contract/store-error.ts";
import type { Store } from "../contract/store.ts";
import type { SqlDatabase, SqlPart, SqlWriter } from "../sql/sql.ts";
import type { StoreTables } from "./store-tables.ts";

export interface CopyPort {
  readonly database: SqlDatabase;
  readonly tables: StoreTables;
  readonly heldSessions: Store["heldSessions"];
  readonly databaseClock?: SqlPart | undefined;
  /** Undefined where nothing may be written. */
  readonly writing?: { readonly writer: SqlWriter } | undefined;
}

const ports = new WeakMap<Store, CopyPort>();

export function addCopyPort(store: Store, port: CopyPort): Store {
  ports.set(store, port);
  return store;
}

export function findCopyPort(store: Store): CopyPort {
  const port = ports.get(store);
  if (port !== undefined) return port;
  throw new StoreError("not_a_store", "Only a store that `openStore` opened can be copied.");
}
