// The store of a home directory: on SQLite, or on PostgreSQL where it has a URL. Several processes may have it open at once.

import { randomIds, systemClock } from "@soong/core";
import type { Store } from "../contract/store.ts";
import { openSqliteParts } from "../sqlite/open-sqlite.ts";
import { createStore, type StoreOptions, type StoreSetting } from "../store/create-store.ts";

export type { StoreOptions } from "../store/create-store.ts";

/** Among a hundred processes that start at once the last one waits its turn for many seconds. */
const DEFAULT_BUSY_TIMEOUT_MS = 120_000;

export async function openStore(options: StoreOptions): Promise<Store> {
  const setting: StoreSetting = {
    ...options,
    readOnly: options.readOnly ?? false,
    clock: options.clock ?? systemClock(),
    ids: options.ids ?? randomIds(),
    busyTimeoutMs: options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS,
  };
  if (options.url === undefined) return createStore(await openSqliteParts(setting), setting);
  // Who has no URL loads nothing of it.
  const { openPostgresParts } = await import("../postgres/open-postgres.ts");
  return createStore(await openPostgresParts(options.url, setting), setting);
}
