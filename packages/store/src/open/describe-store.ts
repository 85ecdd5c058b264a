// Looks at a store without opening it: which database it is, and whether that answers.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SqliteDescription, StoreDescription } from "../contract/describe.ts";
import type { StoreOptions } from "../store/create-store.ts";

/** A user waits for it. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Throws a StoreError where a database does not answer. */
export async function describeStore({
  directory,
  url,
}: Pick<StoreOptions, "directory" | "url">): Promise<StoreDescription> {
  if (url === undefined) return describeSqlite(directory);
  const { describePostgres } = await import("../postgres/describe-postgres.ts");
  return describePostgres(url, ANSWER_TIMEOUT_MS);
}

async function describeSqlite(home: string): Promise<SqliteDescription> {
  const address = join(home, "store", "soong.db");
  const found = await stat(address).catch(() => undefined);
  const sizes = await Promise.all(["store", "artifacts"].map((name) => sumSizes(join(home, name))));
  return {
    kind: "sqlite",
    address,
    is_there: found !== undefined,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}

async function sumSizes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    // It may go meanwhile.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    sum += found?.size ?? 0;
  }
  return sum;
}
