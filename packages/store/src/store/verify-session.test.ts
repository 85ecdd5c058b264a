// What a hand that is not ours does to the tables, and what the check says of it.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { kernelOn } from "../../conformance/kernel-run.ts";
import { createFactWriter } from "../../conformance/fact-writer.ts";
import type { SessionReader, Store } from "../contract/store.ts";
import { loadSqlite } from "../sqlite/driver.ts";
import { openStore } from "../open/open-store.ts";

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
  const writer = createFactWriter(session);
  for (let i = 1; i <= 6; i += 1) {
    writer.add({ run_id: "run_1", agent_id: "main", data: { i } }, [
      writer.node({ node_id: `n${i}` }),
    ]);
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
    "derived",
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

describe("what follows from the facts", () => {
  const changes: [string, string, RegExp][] = [
    [
      "an active node",
      "UPDATE agents SET active_node_id = 'n1'",
      /agents has active_node_id n1, .* say/,
    ],
    [
      "an agent's parent",
      "UPDATE agents SET parent_agent_id = 'x'",
      /agents has parent_agent_id x/,
    ],
    ["a node's parent", "UPDATE nodes SET parent_id = 'n1' WHERE node_id = 'n3'", /node n3 hangs/],
    ["a node's seq", "UPDATE nodes SET seq = 1 WHERE node_id = 'n3'", /node n3 hangs/],
    ["a run's status", "UPDATE runs SET status = 'aborted'", /runs has status/],
    ["a run's end", "UPDATE runs SET ended_at = NULL", /runs has ended_at/],
    ["a run's last fact", "UPDATE runs SET last_seq = 3", /runs has last_seq 3/],
    ["a run's number", "UPDATE runs SET run_index = run_index + 7", /filed under another run_id/],
    ["a call's status", "UPDATE calls SET status = 'failed'", /calls has status failed/],
    [
      "what is open",
      `UPDATE sessions SET open_state = '{"calls":[],"runs":[["r",1,1]],"active":[]}'`,
      /open_state/,
    ],
    ["all that is open", "UPDATE sessions SET open_state = 'x'", /cannot be read/],
    ["all calls", "DELETE FROM calls", /of calls is missing/],
    ["all runs", "DELETE FROM runs", /filed under another run_id/],
    ["all agents", "DELETE FROM agents", /of agents is missing/],
    ["all artifacts", "DELETE FROM artifacts", /of artifacts is missing/],
    [
      "an artifact's size",
      `UPDATE artifacts SET record = replace(record, '"size":', '"size":1')`,
      /artifacts has size/,
    ],
    [
      "an artifact's name",
      "UPDATE artifacts SET artifact_id = 'zz' || artifact_id",
      /another artifact_id/,
    ],
    ["an artifact's run", "UPDATE artifacts SET run_id = 'zz'", /another run_id/],
    ["an artifact's call", "UPDATE artifacts SET tool_call_id = 'zz'", /another tool_call_id/],
    ["an artifact's time", "UPDATE artifacts SET created_at = 'zz'", /another created_at/],
    ["an artifact's room", "UPDATE artifacts SET size = 0", /another size/],
    [
      "a call no one made",
      "INSERT INTO calls SELECT session_no, 1, run_id, 'c', 'x', 1, 2, 'failed' FROM calls LIMIT 1",
      /no fact names/,
    ],
  ];

  test.each(changes)("is found when %s was changed, and made anew", async (_what, sql, message) => {
    verifies("EVENT-6");
    const session = await store.createSession({ session_id: "kernel" });
    const kernel = await kernelOn(session);
    const run = await kernel.startRun();
    for (const tool of ["demo.read", "demo.long", "demo.write", "demo.fail"])
      await run.call(tool, {});
    run.end("completed");
    const reader = await store.readSession("kernel");
    await session.close();
    await store.removeSession("s");
    await treeOf("kernel");
    const before = await contents(reader);
    expect(await store.verify("kernel")).toMatchObject({ ok: true });

    await tamper(sql);
    expect(await store.verify("kernel")).toMatchObject({
      ok: false,
      problem: { kind: "derived", message: expect.stringMatching(message) as string },
    });
    await store.rebuildSession("kernel");
    expect(await store.verify("kernel", { artifacts: true })).toMatchObject({ ok: true });
    expect(await contents(reader)).toEqual(before);
  });

  test("is not taken for that of a session of another name", async () => {
    verifies("EVENT-6");
    await tamper("UPDATE sessions SET session_id = 'other'");
    expect(await store.verify("other")).toMatchObject({
      ok: false,
      problem: { seq: 1, kind: "head", message: expect.stringContaining("of session s") as string },
    });
  });

  test("is not made anew from facts that are not as they were recorded", async () => {
    verifies("EVENT-6");
    await tamper("UPDATE facts SET line = replace(line, '\"i\":3', '\"i\":8')");
    await expect(store.rebuildSession("s")).rejects.toMatchObject({ code: "store_corrupted" });
  });

  test("is not made anew while someone works on it", async () => {
    verifies("EVENT-6");
    await store.openSession("s");
    await expect(store.rebuildSession("s")).rejects.toMatchObject({ code: "session_in_use" });
  });

  /** With a conversation, which the kernel alone does not have. */
  async function treeOf(session_id: string): Promise<void> {
    const session = await store.openSession(session_id);
    const writer = createFactWriter(session);
    const about = { run_id: "run_9", agent_id: "agent_1", run_seq: 1 };
    writer.add({ ...about, type: "run.started" }, [
      writer.node({ node_id: "n1", run_id: "run_9" }),
    ]);
    for (const [node_id, parent_id] of [
      ["n2", "n1"],
      ["n3", "n2"],
    ] as const) {
      writer.add(about, [writer.node({ node_id, parent_id, run_id: "run_9" })]);
    }
    writer.add({ ...about, type: "run.failed" });
    await session.close();
  }

  async function contents(reader: SessionReader): Promise<unknown> {
    return {
      agents: await reader.agents(),
      runs: await reader.runs(),
      calls: await reader.calls(),
      artifacts: (await reader.artifacts()).map(({ artifact_id, sha256, size }) => [
        artifact_id,
        sha256,
        size,
      ]),
      path: await reader.activePath("agent_1"),
    };
  }
});

async function tamper(sql: string): Promise<void> {
  const database = (await loadSqlite())(join(home, "store", "soong.db"));
  database.exec(sql);
  database.close();
}
