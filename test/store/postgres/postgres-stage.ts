// Stores on PostgreSQL for tests of faults: by way of a proxy that can be cut, beside one that is not.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { onTestFinished } from "vitest";
import {
  openStore,
  StoreError,
  type OpenSession,
  type Store,
  type StoreOptions,
} from "../../../packages/store/src/index.ts";
import { startProxy, type Proxy } from "../../postgres/proxy.ts";

/** A home directory of its own: as on another machine. */
export async function storeAt(url: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), "soong-postgres-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const store = await openStore({ directory, url, busyTimeoutMs: 20_000, ...options });
  onTestFinished(() => store.close().catch(() => {}));
  return store;
}

export async function proxyTo(url: string): Promise<Proxy> {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Rows of one statement, past the store. */
export async function ask<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** As soon as its lease has ended. */
export async function openWhenFree(store: Store, session_id: string): Promise<OpenSession> {
  for (;;) {
    try {
      return await store.openSession(session_id);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "session_in_use") throw error;
      await delay(20);
    }
  }
}

/** The error, as far as a program looks at it. */
export async function refusal(work: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await work();
  } catch (error) {
    const { code, message } = error as StoreError;
    return { code, message };
  }
  return { code: "none", message: "" };
}

export async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await delay(10);
}
