// Writes a store as SQL text, with something in every table: the fixture that later versions have to open.
// `node scripts/run.mjs test/store/fixture-runtime.ts NEW-DIRECTORY > packages/store/src/sqlite/fixtures/version-N.sql`

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kernelOn } from "../../packages/store/conformance/kernel-run.ts";
import { createFactWriter } from "../../packages/store/conformance/fact-writer.ts";
import { loadSqlite, type Database } from "../../packages/store/src/sqlite/driver.ts";
import { openStore } from "../../packages/store/src/open/open-store.ts";

const [directory = ""] = process.argv.slice(2);
const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) };
const store = await openStore({ directory, clock });

const kept = await store.createSession({
  session_id: "kept",
  title: "It's a title",
  project: "/home/me/project",
});
const { session, startRun } = await kernelOn(kept);
const run = await startRun({ role: "main" });
await run.execute([
  { id: "call_read", name: "demo.read", arguments: { text: "naïve ‘quotes’ \u0000\ud83d\ude00" } },
  { id: "call_fail", name: "demo.fail", arguments: {} },
  { id: "call_forbidden", name: "demo.forbidden", arguments: {} },
  { id: "call_write", name: "demo.write", arguments: {} },
]);
const { run_id } = run.identity;
await kept.artifacts.write("kept bytes", {
  session_id: "kept",
  run_id,
  tool_call_id: "call_read",
  media_type: "text/plain",
  name: "notes.txt",
});
run.end("completed");
await session.close();
await kept.close();

const branches = await store.createSession({ session_id: "branches" });
const writer = createFactWriter(branches);
writer.add({ type: "run.started", run_id: "run_b", agent_id: "agent_1", run_seq: 1 }, [
  writer.node({ node_id: "root" }),
]);
writer.add({}, [writer.node({ node_id: "left", parent_id: "root" })]);
writer.add({ type: "context.rewound", data: { agent_id: "agent_1", node_id: "root" } });
writer.add({}, [writer.node({ node_id: "right", parent_id: "root" })]);
writer.add({ type: "run.completed", run_id: "run_b", agent_id: "agent_1", run_seq: 2 });
await branches.close();

const at = new Date(clock.now()).toISOString();
for (const session_id of ["kept", "gone"]) {
  if (session_id === "gone") {
    const gone = await store.createSession({ session_id });
    createFactWriter(gone).add();
    await gone.close();
  }
  await store.tasks().change({ task_id: `task_${session_id}` }, () => ({
    answer: undefined,
    task: {
      task_id: `task_${session_id}`,
      session_id,
      status: "running",
      created_at: at,
      updated_at: at,
      content: { title: "It's a task", goal: "naïve ‘quotes’ \u0000", version: 2 },
    },
    steps: [
      {
        task_id: `task_${session_id}`,
        step_id: "first",
        position: 0,
        status: "claimed",
        open_dependencies: 0,
        run_id: `run_${session_id}`,
        lease_expires_at: clock.now() + 60_000,
        state: { attempts: 1 },
        definition: { depends_on: [], content: { title: "The first" } },
      },
      {
        task_id: `task_${session_id}`,
        step_id: "second",
        position: 1,
        status: "pending",
        open_dependencies: 1,
        state: { attempts: 0 },
        definition: { depends_on: ["first"], content: { title: "The second" } },
      },
    ],
  }));
}
await store.removeSession("gone", "of no use");

// Left as a killed process leaves it.
const interrupted = await store.createSession({ session_id: "interrupted" });
const cut = await (await kernelOn(interrupted)).startRun();
void cut.execute([
  { id: "call_done", name: "demo.read", arguments: {} },
  { id: "call_started", name: "demo.hang_write", arguments: {} },
  { id: "call_waiting", name: "demo.write", arguments: {} },
]);
while (
  (await interrupted.reader.calls()).every(
    ({ started_seq, tool_name }) => tool_name !== "demo.hang_write" || started_seq === undefined,
  )
) {
  await new Promise((resolve) => {
    setTimeout(resolve, 10);
  });
}

const open = await loadSqlite();
const database = open(join(directory, "store", "soong.db"), { readOnly: true });
process.stdout.write([dump(database), ...bytesOf(database), ""].join("\n"), () => process.exit(0));

/** What is beside the database, as comments: `-- artifact SESSION ARTIFACT BYTES`. */
function bytesOf(from: Database): string[] {
  const artifacts = from
    .prepare("SELECT session_id, artifact_id FROM artifacts JOIN sessions USING (session_no)")
    .all() as { session_id: string; artifact_id: string }[];
  return artifacts.map(({ session_id, artifact_id }) => {
    const bytes = readFileSync(join(directory, "artifacts", session_id, artifact_id));
    return `-- artifact ${session_id} ${artifact_id} ${bytes.toString("base64")}`;
  });
}

function dump(from: Database): string {
  const schema = from
    .prepare(
      "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY rowid",
    )
    .all() as { name: string; type: string; sql: string }[];
  const tables = schema.filter(({ type }) => type === "table");
  return [
    `PRAGMA application_id = ${only(from, "application_id")};`,
    `PRAGMA user_version = ${only(from, "user_version")};`,
    ...schema.map(({ sql }) => `${sql};`),
    ...tables.flatMap(({ name }) => rows(from, name)),
  ].join("\n");
}

function rows(from: Database, table: string): string[] {
  const all = from.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[];
  return all.map((row) => {
    const values = Object.values(row).map((value) =>
      typeof value === "string"
        ? `'${value.replaceAll("'", "''")}'`
        : value === null
          ? "NULL"
          : Number(value),
    );
    return `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${values.join(", ")});`;
  });
}

function only(from: Database, pragma: string): string {
  return String(Object.values(from.prepare(`PRAGMA ${pragma}`).get() as object)[0]);
}
