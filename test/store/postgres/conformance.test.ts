// The store on PostgreSQL against the same contract as the one on SQLite.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import {
  conformanceChecks,
  type StoreUnderTest,
} from "../../../packages/store/conformance/index.ts";
import { openStore } from "../../../packages/store/src/index.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { ask } from "./postgres-stage.ts";

describe("the PostgreSQL store", () => {
  test.each(conformanceChecks.map((check) => [check.name, check] as const))(
    "%s",
    async (_name, check) => {
      const [first, ...rest] = check.laws as [string, ...string[]];
      verifies(first, ...rest);
      const under = await storeAt(await usePostgres());
      await expect(check.run(under)).resolves.toBeUndefined();
    },
  );
});

async function storeAt(url: string): Promise<StoreUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "soong-postgres-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  let isNew = true;
  return {
    async open() {
      const store = await openStore({ directory, url, busyTimeoutMs: 5_000 });
      // Behind the numbers for which a floating one is exact; other tests have the small ones.
      if (isNew) await ask(url, "ALTER TABLE soong.sessions ALTER session_no RESTART WITH 3000000");
      isNew = false;
      return store;
    },
    /** As if its process had been killed and its leases had ended: what it still sends is refused. */
    async crash(store) {
      await ask(
        url,
        "UPDATE soong.sessions SET epoch = epoch + 1, lease_until = NULL WHERE lease_until IS NOT NULL",
      );
      onTestFinished(() => store.close().catch(() => {}));
    },
  };
}
