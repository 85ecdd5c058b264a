// Runs with files: memory, skills, the real tools, MCP servers as processes, and sessions on disk, also of older versions.

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createKernel,
  createMemoryJournal,
  createRedactor,
  defineTool,
  type Fact,
} from "@soong/core";
import {
  externalStartRecall,
  extractMemories,
  memoryTools,
  readCandidates,
  skillTools,
  type ScriptTurn,
} from "@soong/agent";
import {
  createPins,
  openConnection,
  openMcpServers,
  type McpConnection,
  type ServerFact,
} from "@soong/mcp";
import { openStore } from "@soong/store";
import { done, openStage, says } from "../../agent/loop-stage.ts";
import { openToolConversation } from "../../agent/tool-conversation.ts";
import { writtenFact } from "../../facts.ts";
import { entryOf, scriptedConnection, scriptedServer, textAnswer } from "../../mcp/source-stage.ts";
import { createWorkbench } from "../../tools/workbench.ts";
import { loadSqlite } from "../../../packages/store/src/sqlite/driver.ts";
import type { Recordings } from "../recorded-runs.ts";

const call = (tool: string, input: object): ScriptTurn => ({
  calls: [{ tool, input: input as never }],
});
const DONE: ScriptTurn = { text: "ok" };

export const HOME_RUNS: Recordings = {
  "memories recalled and proposed": () => inFolder(recordMemory),
  "an external memory that is asked": () => recordExternalMemory("allow"),
  "an external memory that is denied": () => recordExternalMemory("deny"),
  "a loaded skill": () => inFolder(recordSkill),
  "servers that come, change and fail": recordServers,
  "a server as a process": recordServerProcess,
  "files read, changed and searched": recordFiles,
  "a session on disk, closed and opened again": () => inFolder(recordStored),
  "a session on disk that a crash cut off": () => inFolder(recordStoredCrash),
  ...readOldStores(),
};

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-export-")));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function recordMemory(home: string): Promise<readonly Fact[]> {
  const folder = join(home, "memory");
  await mkdir(join(folder, "user"), { recursive: true });
  await writeFile(join(folder, "user", "tabs.md"), "---\n---\nThe user indents with tabs.\n");
  const archive = join(home, "archive");
  const conversation = await openToolConversation(
    [
      call("internal.recall_memory", { query: "indent" }),
      call("internal.write_memory", { scope: "user", content: "Tests first." }),
      DONE,
    ],
    (findRun) => [
      memoryTools({ folder, findRun, writing: { mode: "candidate", findArchive: () => archive } }),
    ],
  );
  await conversation.ask("go");
  const { facts } = conversation.journal;
  const [{ run_id = "" } = {}] = conversation.facts("memory.candidate");
  await extractMemories({
    candidates: readCandidates([{ session_id: "s1", run_id, archive }]),
    folder,
    redactor: createRedactor(),
    isOnRecord: () => Promise.resolve(true),
    exclusively: (_path, work) => work(),
  });
  // Written by a job without a session: its log has the facts.
  const [line = "{}"] = (await readFile(join(folder, "log.jsonl"), "utf8")).split("\n");
  const { time, ...data } = JSON.parse(line) as { time: string };
  const seq = facts.length + 1;
  return [...facts, writtenFact({ type: "memory.written", session_id: "s1", seq, time, data })];
}

async function recordExternalMemory(decision: "allow" | "deny"): Promise<readonly Fact[]> {
  const tool = "mcp.notes.search";
  const search = defineTool({
    name: tool,
    description: "Searches the notes.",
    input_schema: { type: "object" },
    handler: () => "The build needs make.",
  });
  const stage = await openStage([[says("ok"), done()]], {
    sources: [{ id: "notes", kind: "mcp", tools: [search] }],
    recall: externalStartRecall({ external: { tool }, project: "/site", tokens: 500 }),
    sessionOptions: { policy: { rules: [{ tool, decision }] } },
  });
  await stage.ask("How is it built?");
  return stage.journal.facts;
}

async function recordSkill(folder: string): Promise<readonly Fact[]> {
  await mkdir(join(folder, "deploy"));
  await writeFile(
    join(folder, "deploy", "SKILL.md"),
    "---\nname: deploy\ndescription: Deploys the site.\n---\nRun the script.\n",
  );
  const conversation = await openToolConversation(
    [call("internal.load_skill", { name: "deploy" }), DONE],
    (findRun) => [skillTools({ folder, findRun })],
  );
  await conversation.ask("go");
  return conversation.journal.facts;
}

const never = new AbortController().signal;

async function openServers(connect: (server_id: string) => McpConnection, ids: readonly string[]) {
  const journal = createMemoryJournal();
  const kernel = createKernel();
  const session = await kernel.openSession({ journal, ask: () => ({ decision: "allow_once" }) });
  const early: ServerFact[] = [];
  let record = (fact: ServerFact): void => void early.push(fact);
  const pins = await createPins({
    load: () => Promise.resolve(undefined),
    save: () => Promise.resolve(),
  });
  const servers = openMcpServers({
    entries: ids.map((id) => entryOf(id)),
    registry: kernel.registry,
    pins,
    connect: ({ server_id }) => connect(server_id),
    record: (fact) => record(fact),
  });
  await servers.ready(never, 30_000);
  const run = await session.startRun();
  record = ({ type, data, level }) => void run.recorder.record(type, data, undefined, level);
  for (const fact of early) record(fact);
  return { journal, session, run, servers };
}

async function recordServers(): Promise<readonly Fact[]> {
  const git = scriptedConnection(
    "git",
    scriptedServer({
      tools: [{ name: "log" }],
      callTool: () => Promise.resolve(textAnswer("no commits")),
    }),
  );
  const gone = scriptedConnection("gone", "it does not answer");
  const { journal, run, session, servers } = await openServers(
    (id) => (id === "git" ? git : gone),
    ["git", "gone"],
  );
  await run.call("mcp.git.log", {});
  git.becomes(scriptedServer({ tools: [{ name: "log" }, { name: "blame" }] }));
  git.lose("the pipe broke");
  await servers.ready(never, 30_000);
  const { run_id } = run.identity;
  const about = { server_id: "git", run_id, tool_call_id: "call_x", tool_name: "mcp.git.log" };
  run.recorder.record("mcp.server.tools_changed", {
    server_id: "git",
    tools: 2,
    added: ["blame"],
    removed: [],
    changed: ["log"],
  });
  run.recorder.record("mcp.server.host_refused", {
    server_id: "git",
    host: "example.org",
    port: 443,
    why: "is not allowed",
  });
  run.recorder.record("mcp.server.host_request", {
    ...about,
    method: "sampling/createMessage",
    outcome: "refused",
    preview: "Say hello.",
  });
  run.end("completed");
  await servers.close();
  await session.close();
  return journal.facts;
}

const EVERYTHING = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

/** The reference server, with content of every kind. */
async function recordServerProcess(): Promise<readonly Fact[]> {
  const transport = {
    kind: "stdio" as const,
    command: process.execPath,
    args: [EVERYTHING, "stdio"],
    env: {},
  };
  const { journal, run, session, servers } = await openServers(
    (server_id) => openConnection(entryOf(server_id, { transport })),
    ["everything"],
  );
  for (const [name, input] of [
    ["echo", { message: "héllo" }],
    ["get-tiny-image", {}],
    ["get-resource-links", { count: 2 }],
    ["get-structured-content", { location: "Chicago" }],
    ["get-sum", { a: "one" }],
  ] as const) {
    await run.call(`mcp.everything.${name}`, input);
  }
  run.end("completed");
  await servers.close();
  await session.close();
  return journal.facts;
}

async function recordFiles(): Promise<readonly Fact[]> {
  const bench = await createWorkbench({ inlineLimitBytes: 2000 });
  await bench.write("a.txt", `${"a line\n".repeat(2000)}hello\n`);
  await bench.call("code.read_file", { path: "a.txt" });
  await bench.call("code.edit_file", { path: "a.txt", edits: [{ old: "hello", new: "bye" }] });
  await bench.call("code.edit_file", { path: "a.txt", edits: [{ old: "not there", new: "x" }] });
  await bench.call("code.search", { query: "bye" });
  await bench.call("code.list_dir", {});
  await bench.call("code.write_file", { path: "b.txt", content: "b\n" });
  await bench.call("code.run_command", { argv: ["sh", "-c", "echo out; echo err >&2; exit 3"] });
  await bench.call("code.read_file", { path: "../outside/x" });
  await bench.close();
  return [...bench.facts];
}

async function recordStored(directory: string): Promise<readonly Fact[]> {
  const greet = defineTool({
    name: "demo.greet",
    description: "Greet",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: () => "hello",
  });
  const store = await openStore({ directory });
  let kept = await store.createSession({ session_id: "kept", title: "first" });
  for (const again of [true, false]) {
    const session = await createKernel({ tools: [greet] }).openSession(kept);
    const run = await session.startRun();
    await run.call("demo.greet", { again });
    run.end("completed");
    await session.close();
    await kept.close();
    if (again) kept = await store.openSession("kept");
  }
  return closing(store, async () => (await store.readSession("kept")).facts());
}

async function recordStoredCrash(directory: string): Promise<readonly Fact[]> {
  const hang = defineTool({
    name: "demo.hang",
    description: "Hangs",
    input_schema: { type: "object" },
    permission: "readonly",
    concurrency_safe: true,
    handler: () => new Promise<string>(() => {}),
  });
  const store = await openStore({ directory });
  const kept = await store.createSession({ session_id: "cut" });
  const session = await createKernel({ tools: [hang] }).openSession(kept);
  const run = await session.startRun();
  const turn = run.openTurn();
  turn.push({ id: "1", name: "demo.hang", arguments: {} });
  turn.end();
  while (
    !(await (await store.readSession("cut")).facts()).some(({ type }) => type === "tool.started")
  ) {
    await kept.journal.flush();
  }
  // Closed under the session, as a killed process leaves it.
  await store.close();
  const again = await openStore({ directory });
  await (await again.openSession("cut")).close();
  return closing(again, async () => (await again.readSession("cut")).facts());
}

async function closing<T>(store: { close(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await store.close();
  }
}

const FIXTURES = new URL("../../../packages/store/src/sqlite/fixtures/", import.meta.url);

/** Every session of a store of each earlier version. */
function readOldStores(): Recordings {
  const stored = [1, 2, 3].flatMap((version) =>
    ["branches", "interrupted", "kept"].map((session_id) => ({ version, session_id })),
  );
  return Object.fromEntries(
    stored.map(({ version, session_id }) => [
      `the session ${session_id} of a store of version ${version}`,
      () => inFolder((folder) => readOldSession(folder, version, session_id)),
    ]),
  );
}

async function readOldSession(
  directory: string,
  version: number,
  session_id: string,
): Promise<readonly Fact[]> {
  await mkdir(join(directory, "store"), { mode: 0o700 });
  const open = await loadSqlite();
  const database = open(join(directory, "store", "soong.db"));
  database.exec(await readFile(new URL(`version-${version}.sql`, FIXTURES), "utf8"));
  database.close();
  const store = await openStore({ directory });
  return closing(store, async () => (await store.readSession(session_id)).facts());
}
