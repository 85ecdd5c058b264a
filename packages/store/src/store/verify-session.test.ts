// What a hand that is not ours does to the tables, and what the check says of it.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createPen } from "../conformance/pen.ts";
import type { Store } from "../contract/index.ts";
import { loadSqlite } from "../sqlite/driver.ts";
import { openStore } from "./open-store.ts";

let home: string;
let store: Store;
let artifact_id: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-verify-"));
  store = await openStore({ directory: home });
  onTestFinished(async () => {
    await store.close();
    await rm(home, { recursive: true, force: true });
  });
  const session = await store.createSession({ session_id: "s" });
  const pen = createPen(session);
  for (let i = 1; i <= 6; i += 1) {
    pen.add({ run_id: "run_1", agent_id: "main", data: { i } }, [pen.node({ node_id: `n${i}` })]);
  }
  const about = { session_id: "s", run_id: "run_1", media_type: "text/plain" };
  ({ artifact_id } = await session.artifacts.write("bytes", about));
  await session.close();
});

test("an untouched session is as it was recorded, and its head can be kept elsewhere", async () => {
  verifies("EVENT-6");
  const { head_hash } = await (await store.readSession("s")).record();
  expect(await store.verify("s", { artifacts: true, head: head_hash })).toEqual({
    ok: true,
    facts: 6,
    head_hash,
  });
});

test.each([
  ["a text is edited", "UPDATE facts SET line = replace(line, '\"i\":3', '\"i\":8')", 3, "edited"],
  [
    "one is filed as another type",
    "UPDATE facts SET type = 'x' WHERE line LIKE '%\"i\":2%'",
    2,
    "edited",
  ],
  ["a fact is removed", "DELETE FROM facts WHERE line LIKE '%\"i\":4%'", 4, "removed"],
  ["the last one is removed", "DELETE FROM facts WHERE line LIKE '%\"i\":6%'", 6, "removed"],
  [
    "one is added after the head",
    "INSERT INTO facts SELECT place + 6, type, run_index, tool_call_id, line FROM facts LIMIT 1",
    7,
    "head",
  ],
  [
    "a node is edited",
    "UPDATE nodes SET text = text || ' ' WHERE node_id = 'n2'",
    2,
    "node_edited",
  ],
  ["a node is removed", "DELETE FROM nodes WHERE node_id = 'n5'", 5, "node_removed"],
  [
    "a node is added",
    "INSERT INTO nodes SELECT session_no, 'n9', 'n6', seq, text FROM nodes WHERE node_id = 'n6'",
    6,
    "node_edited",
  ],
  [
    "the head is changed",
    "UPDATE sessions SET head_hash = replace(head_hash, 'a', 'b')",
    6,
    "edited",
  ],
])("when %s, that is found", async (_what, sql, seq, kind) => {
  verifies("EVENT-6");
  await tamper(sql);
  expect(await store.verify("s")).toMatchObject({ ok: false, problem: { seq, kind } });
});

test("an artifact whose bytes are others, or gone, is found when it is asked for", async () => {
  verifies("EVENT-6", "ART-1");
  const file = join(home, "artifacts", "s", artifact_id);
  await writeFile(file, "other");
  expect(await store.verify("s")).toMatchObject({ ok: true });
  const problem = { kind: "artifact", message: expect.stringContaining(artifact_id) as string };
  expect(await store.verify("s", { artifacts: true })).toMatchObject({ ok: false, problem });
  await rm(file);
  expect(await store.verify("s", { artifacts: true })).toMatchObject({ ok: false, problem });
});

async function tamper(sql: string): Promise<void> {
  const database = (await loadSqlite())(join(home, "store", "soong.db"));
  database.exec(sql);
  database.close();
}
