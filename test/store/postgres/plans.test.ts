// What PostgreSQL reads to answer: what belongs to a session, however much the store holds of others.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import { openStore } from "../../../packages/store/src/index.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { ask, storeAt, until } from "./postgres-stage.ts";

test("facts of a session are found without a look at those of all others", async () => {
  verifies("STORE-1", "DIST-1");
  const url = await usePostgres();
  const session = await (await storeAt(url)).createSession({ session_id: "s1" });
  const writer = createFactWriter(session);
  for (let i = 0; i < 5; i += 1) writer.add({ type: "tool.progress" });
  await session.close();
  await ask(
    url,
    `INSERT INTO soong.facts (place, type, line)
       SELECT (1000 + i % 500) * 4294967296 + i, 'tool.progress', repeat('x', 200) FROM generate_series(1, 60000) AS i;
     INSERT INTO soong.sessions (session_id, created_at, updated_at, last_seq, head_hash, bytes, open_state)
       SELECT 'other' || i, '', '', 60000, '', 0, '{}' FROM generate_series(1, 500) AS i;
     ANALYZE soong.facts, soong.sessions`,
  );
  const before = await countScans(url);
  const store = await openStore({ directory: "/nowhere", url, readOnly: true });
  expect(await store.factsOfTypes(["s1"], ["tool.progress"], 2)).toHaveLength(3);
  expect(await store.newestFacts(["s1"], "tool.progress")).toHaveLength(1);
  const reader = await store.readSession("s1");
  expect(await reader.facts({ after: 3 })).toHaveLength(2);
  // A connection reports what it did when it ends.
  await store.close();
  let after = await countScans(url);
  await until(async () => (after = await countScans(url)).byIndex > before.byIndex);
  expect(after.whole).toBe(before.whole);
});

async function countScans(url: string): Promise<{ whole: number; byIndex: number }> {
  const [row] = await ask<{ seq_scan: string; idx_scan: string }>(
    url,
    "SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE relname = 'facts'",
  );
  return { whole: Number(row?.seq_scan), byIndex: Number(row?.idx_scan) };
}
