// The recipe "never touch secrets" of the cookbook, through every way a call can take to a path (PERM-15): whatever
// restricts it, nothing of the file, its neighbours or its existence is shown.

import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  compilePolicy,
  createMemoryJournal,
  defineHook,
  type AnyHook,
  type PermissionRule,
  type Registry,
  type RunOptions,
} from "@soong/core";
import { memoryTools, skillTools, startRecall } from "@soong/agent";
import { createPins, openConnection, openMcpServers, openPinFile } from "@soong/mcp";
import { findPath, instructionFiles, loadDeclarativeTools, resolvePathNow } from "@soong/tools";
import { attachFiles } from "../../packages/cli/src/conversation/attach-files.ts";
import { entryOf } from "../mcp/source-stage.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { allowCode, createWorkbench } from "./workbench.ts";

const PLACES = ["**/.env*", "config/secrets"];
const SECRET = /swordfish|neighbour/;

const rulesOf = (about: Omit<PermissionRule, "path">): PermissionRule[] =>
  PLACES.map((path) => ({ ...about, path }));

const guards = (): AnyHook[] =>
  PLACES.map((path) =>
    defineHook({
      id: `guard of ${path}`,
      event: "PreToolUse",
      path,
      run: () => ({ decision: "deny", reason: "guarded" }),
    }),
  );

const WAYS_TO_RESTRICT: {
  name: string;
  rules?: PermissionRule[];
  hooks?: AnyHook[];
  child?: PermissionRule[];
  parent?: PermissionRule[];
}[] = [
  { name: "deny", rules: rulesOf({ decision: "deny" }) },
  { name: "ask", rules: rulesOf({ decision: "ask" }) },
  { name: "ask every time", rules: rulesOf({ decision: "ask", every_time: true }) },
  { name: "deny for all tools of files", rules: rulesOf({ tool: "code.*", decision: "deny" }) },
  { name: "a child's own deny", child: rulesOf({ decision: "deny" }) },
  { name: "a parent's deny", parent: rulesOf({ decision: "deny" }) },
  { name: "guards", hooks: guards() },
];

const CALLS: [string, string, object][] = [
  ["read", "code.read_file", { path: "config/secrets/db" }],
  ["read a name that is not there", "code.read_file", { path: "config/secrets/dbx" }],
  ["read through a link", "code.read_file", { path: "link/db" }],
  ["read through a hard link", "code.read_file", { path: "hard" }],
  ["read another file of the recipe", "code.read_file", { path: "src/.env.local" }],
  ["list", "code.list_dir", { path: "config/secrets" }],
  ["search", "code.search", { query: "swordfish", path: "config/secrets" }],
  ["search one file", "code.search", { query: "swordfish", path: "config/secrets/db" }],
  [
    "edit with a miss",
    "code.edit_file",
    { path: "config/secrets/db", edits: [{ old: "sworfish", new: "x" }] },
  ],
  ["edit a hard link", "code.edit_file", { path: "hard", edits: [{ old: "sworfish", new: "x" }] }],
  [
    "write over it",
    "code.write_file",
    { path: "config/secrets/db", content: "x", overwrite: true },
  ],
  ["write where it exists", "code.write_file", { path: "config/secrets/db", content: "x" }],
  ["name it in a command", "code.run_command", { argv: ["cat", "config/secrets/db"] }],
  ["run there", "code.run_command", { argv: ["cat", "db"], cwd: "config/secrets" }],
  ["walk over it", "code.run_command", { argv: ["grep", "-r", "swordfish", "."] }],
  ["interpret", "code.run_command", { argv: ["sh", "-c", "cat con*/sec*/d*"] }],
  ["list its directory with a program", "code.run_command", { argv: ["ls", "config"] }],
  ["give it to a declared tool", "own.show", { k: "config/secrets/db" }],
  ["give a link to a declared tool", "own.show", { k: "link/db" }],
  ["load it as a file of a skill", "internal.load_skill", { name: "plan", file: "linked.md" }],
];

const FILESYSTEM = "@modelcontextprotocol/server-filesystem/dist/index.js";
const SERVER_CALLS: [string, string, object][] = [
  ["read", "mcp.fs.read_text_file", { path: "config/secrets/db" }],
  ["read a hard link", "mcp.fs.read_text_file", { path: "hard" }],
  ["walk over it", "mcp.fs.directory_tree", { path: "config" }],
];

/** Tools that are not Soong's own for files: declared ones, skills, memories, and the reference server for files. */
async function furnish(registry: Registry, base: string, withServer: boolean): Promise<void> {
  const tools = join(base, "home/tools");
  const folder = join(base, "home/skills");
  for (const at of [tools, join(folder, "plan"), join(base, "home/memory/user")]) {
    await mkdir(at, { recursive: true });
  }
  const show = {
    name: "own.show",
    description: "Shows a file",
    permission: "readonly",
    input_schema: { type: "object", properties: { k: { type: "string" } } },
    command_type: "exec",
    command: "/bin/cat",
    args: ["--", "{{args.k}}"],
    output: "text",
  };
  await writeFile(join(tools, "show.json"), JSON.stringify(show));
  await writeFile(
    join(folder, "plan/SKILL.md"),
    "---\nname: plan\ndescription: Plans.\n---\nPlan.\n",
  );
  const loaded = await loadDeclarativeTools(tools);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const runOf = () => undefined;
  registry.open(loaded.source);
  registry.open(skillTools({ folder, findRun: runOf }));
  const writing = { mode: "disabled" } as const;
  registry.open(memoryTools({ folder: join(base, "home/memory"), findRun: runOf, writing }));
  if (!withServer) return;
  const project = join(base, "project");
  const args = [createRequire(import.meta.url).resolve(FILESYSTEM), project];
  const transport = { kind: "stdio", command: process.execPath, args, env: {} } as const;
  const servers = openMcpServers({
    entries: [entryOf("fs", { transport, readonly_tools: "all" })],
    registry,
    pins: await createPins(openPinFile(join(base, "home/pins.json"))),
    connect: (entry) => openConnection(entry, { roots: { project, write: [] } }),
  });
  onTestFinished(() => servers.close());
  await servers.ready(new AbortController().signal, 60_000);
}

async function runUnder(
  { rules = [], hooks = [], child = [], parent = [] }: (typeof WAYS_TO_RESTRICT)[0],
  withServer = false,
) {
  const bench = await createWorkbench({
    rules: [...allowCode, ...rules],
    session: { hooks, resolvePath: (path) => resolvePathNow("/", path), findPath },
    furnish: (registry, base) => furnish(registry, base, withServer),
  });
  onTestFinished(() => bench.close());
  await bench.write("config/secrets/db", "password = swordfish\n");
  await bench.write("config/secrets/neighbour-dbx", "swordfish\n");
  await bench.write("src/.env.local", "KEY=swordfish\n");
  await bench.write("src/a.txt", "nothing here\n");
  await symlink("config/secrets", join(bench.project, "link"));
  await link(join(bench.project, "config/secrets/db"), join(bench.project, "hard"));
  await symlink("config/secrets/db", join(bench.project, "AGENTS.md"));
  const note = await bench.write("config/secrets/note", "---\n---\nA swordfish is a fish.\n");
  await link(note, join(bench.base, "home/memory/user/note.md"));
  await link(note, join(bench.base, "home/skills/plan/linked.md"));
  const roots = { project: bench.project, write: [] };
  const above = compilePolicy({ rules: [...allowCode, ...parent], roots });
  if (!above.ok) throw new Error("the parent's policy does not compile");
  const run = await bench.session.startRun({
    policy: { rules: child },
    parent: { run_id: "run_above", agent_id: "agent_above", policy: above.policy },
  });
  return { bench, run };
}

describe.each(WAYS_TO_RESTRICT)("under $name", (restricting) => {
  test("nothing is shown by the tools of a server", async () => {
    verifies("PERM-15", "PERM-12");
    const { bench, run } = await runUnder(restricting, true);
    for (const [way, name, input] of SERVER_CALLS) {
      const result = await run.call(name, { ...input });
      expect([way, result.status]).toEqual([way, "denied"]);
    }
    expect(JSON.stringify(bench.facts)).not.toMatch(SECRET);
    const plain = await run.call("mcp.fs.read_text_file", { path: "src/a.txt" });
    expect(plain.status).toBe("succeeded");
  });

  test("nothing is shown by a memory, at the start and in a call, nor by a file in a prompt", async () => {
    verifies("PERM-15", "MEM-4");
    const { bench, run } = await runUnder(restricting);
    const start = startRecall({
      folder: join(bench.base, "home/memory"),
      project: "",
      tokens: 500,
    });
    expect(await start("Which fish?", [], run)).toBe(undefined);
    const recalled = await run.call("internal.recall_memory", { query: "fish", scope: "user" });
    expect(recalled.data).toMatchObject({ restricted: 1, memories: [] });
    const attached = await attachFiles(["config/secrets/db"], {
      project: bench.project,
      model: "m",
      takesImages: true,
      readFile: (path) => run.call("code.read_file", { path }),
    });
    expect(attached.ok).toBe(false);
    expect(JSON.stringify([recalled, attached, bench.facts])).not.toMatch(SECRET);
  });

  test("nothing is shown by an artifact from before, in the session opened again", async () => {
    verifies("PERM-15", "PERM-12");
    const { rules = [], hooks = [], child = [], parent = [] } = restricting;
    const { bench } = await runUnder({ name: "nothing" });
    const lines = "password = swordfish\n".repeat(20_000);
    await bench.write("config/secrets/long", lines);
    const left = await bench.call("code.run_command", { argv: ["cat", "config/secrets/long"] });
    const [artifact] = left.artifacts;
    const journal = createMemoryJournal();
    journal.append({ facts: bench.facts });
    const roots = { project: bench.project, write: [] };
    const again = await bench.kernel.openSession({
      session_id: bench.session.session_id,
      journal,
      lastSeq: bench.facts.at(-1)?.seq ?? 0,
      artifacts: bench.artifacts,
      hooks,
      roots,
      resolvePath: (path) => resolvePathNow("/", path),
      findPath,
      policy: { rules: [...allowCode, ...rules] },
    });
    const above = compilePolicy({ rules: [...allowCode, ...parent], roots });
    if (!above.ok) throw new Error("the parent's policy does not compile");
    const options: RunOptions = {
      policy: { rules: child },
      parent: { run_id: "run_above", agent_id: "agent_above", policy: above.policy },
    };
    const run = await again.startRun(options);
    const result = await run.call("internal.read_artifact", {
      artifact_id: artifact?.artifact_id ?? "",
    });
    expect([result.status, result.error?.code === "artifact_not_found"]).toEqual(["denied", false]);
    expect(JSON.stringify(result)).not.toMatch(SECRET);
  });

  test.each(CALLS)("nothing is shown by: %s", async (_way, name, input) => {
    verifies("PERM-15", "PERM-12");
    const { bench, run } = await runUnder(restricting);
    const [result] = await run.execute([{ id: "1", name, arguments: input }]);
    expect(result?.status).toBe("denied");
    const asked = JSON.stringify(input);
    const told = JSON.stringify([result, bench.facts]).replaceAll(asked.slice(1, -1), "");
    expect(
      told.replaceAll("swordfish", asked.includes("swordfish") ? "" : "swordfish"),
    ).not.toMatch(SECRET);
    expect(await bench.read("config/secrets/db")).toBe("password = swordfish\n");
  });

  test("searching and listing the project leave it out, and instruction files that lead there", async () => {
    verifies("PERM-15", "INSTR-2");
    const { bench, run } = await runUnder(restricting);
    const results = await run.execute([
      { name: "code.search", arguments: { query: "pass|KEY|fish", hidden: true } },
      { name: "code.list_dir", arguments: { recursive: true } },
    ]);
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(JSON.stringify(results)).not.toMatch(SECRET);
    const load = instructionFiles({ project: bench.project });
    const { files, skipped } = await load((text) => text, run.places);
    expect([files, skipped.length]).toEqual([[], 1]);
    expect(skipped[0]?.why).toContain("restricts");
  });

  test("everything else is as allowed as before", async () => {
    verifies("PERM-15");
    const { run } = await runUnder(restricting);
    const results = await run.execute([
      { name: "code.read_file", arguments: { path: "src/a.txt" } },
      { name: "code.list_dir", arguments: { path: "src" } },
      { name: "code.write_file", arguments: { path: "src/b.txt", content: "x" } },
      { name: "code.run_command", arguments: { argv: ["cat", "src/a.txt"] } },
    ]);
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill("succeeded"));
  });
});

test("a deny on read_file leaves an edit its write, and shows nothing of what it missed", async () => {
  verifies("PERM-15", "PIPE-9");
  const { bench, run } = await runUnder({
    name: "read_file",
    rules: rulesOf({ tool: "code.read_file", decision: "deny" }),
  });
  const [missed] = await run.execute([
    {
      id: "1",
      name: "code.edit_file",
      arguments: { path: "config/secrets/db", edits: [{ old: "password = sworfish", new: "x" }] },
    },
  ]);
  expect(missed?.is_error).toBe(true);
  expect(JSON.stringify([missed, bench.facts])).not.toContain("swordfish");
});
