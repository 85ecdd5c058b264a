// The SQLite store against the contract, and the kernel's own journal and artifacts against their part of it.

import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createMemoryArtifacts, createMemoryJournal } from "@soong/core";
import { openFileArtifacts } from "../artifacts/file-artifacts.ts";
import {
  artifactChecks,
  conformanceChecks,
  journalChecks,
  type Check,
  type StoreUnderTest,
} from "../../conformance/index.ts";
import type { Store } from "../contract/store.ts";
import { openStore } from "../open/open-store.ts";
import { loadSqlite } from "../sqlite/driver.ts";

/** A store without a session: a copy of it costs a third of making one. */
let empty: string;
beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), "soong-conformance-"));
  await (await openStore({ directory: empty })).close();
  // Behind the numbers for which a floating one is exact; other tests have the small ones.
  const database = (await loadSqlite())(join(empty, "store", "soong.db"));
  database.exec("INSERT INTO sqlite_sequence (name, seq) VALUES ('sessions', 3000000)");
  database.close();
});
afterAll(() => rm(empty, { recursive: true, force: true }));

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "soong-conformance-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe("the SQLite store", () => {
  test.each(named(conformanceChecks))("%s", async (_name, check) => {
    says(check);
    const { under, closeCrashed } = storeAt(base);
    try {
      await expect(check.run(under)).resolves.toBeUndefined();
    } finally {
      await closeCrashed();
    }
  });
});

describe("the journal in memory", () => {
  test.each(named(journalChecks))("%s", async (_name, check) => {
    says(check);
    const under = { session_id: "s1", journal: createMemoryJournal() };
    await expect(check.run(under)).resolves.toBeUndefined();
  });
});

describe("the artifacts in memory", () => {
  test.each(named(artifactChecks))("%s", async (_name, check) => {
    says(check);
    const under = { session_id: "s1", artifacts: createMemoryArtifacts() };
    await expect(check.run(under)).resolves.toBeUndefined();
  });
});

describe("the artifacts in files", () => {
  test.each(named(artifactChecks))("%s", async (_name, check) => {
    says(check);
    const artifacts = await openFileArtifacts({ directory: base });
    await expect(check.run({ session_id: "s1", artifacts })).resolves.toBeUndefined();
  });
});

/** A crash leaves what is on disk at that instant: a copy of it, made before anything else can happen. */
function storeAt(home: string): { under: StoreUnderTest; closeCrashed: () => Promise<void> } {
  const crashed: Store[] = [];
  const directory = (): string => join(home, `home-${crashed.length}`);
  cpSync(empty, directory(), { recursive: true });
  return {
    under: {
      open: () => openStore({ directory: directory() }),
      async crash(store) {
        const before = directory();
        crashed.push(store);
        cpSync(before, directory(), { recursive: true });
      },
    },
    async closeCrashed() {
      for (const store of crashed) await store.close();
    },
  };
}

function named<Under>(checks: readonly Check<Under>[]): [string, Check<Under>][] {
  return checks.map((check) => [check.name, check]);
}

function says({ laws }: Pick<Check<never>, "laws">): void {
  const [first, ...rest] = laws;
  if (first === undefined) throw new Error("a check says which laws it belongs to");
  verifies(first, ...rest);
}
