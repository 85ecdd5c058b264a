// Paths in the input of tools that are not Soong's own (PERM-15): declared commands, and the reference server for files.
// A rule, a guard or a sensitive name holds for them, and text that only mentions a file is left alone.

import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createKernel,
  createMemoryJournal,
  defineHook,
  type JsonObject,
  type Kernel,
  type PermissionRequest,
  type PermissionRule,
  type SessionOptions,
} from "@soong/core";
import {
  createPins,
  openConnection,
  openMcpServers,
  openPinFile,
  type McpServers,
} from "@soong/mcp";
import { findPath, loadDeclarativeTools, resolvePathNow } from "@soong/tools";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { entryOf } from "../mcp/source-stage.ts";

const text = { type: "string" };
const shows = (name: string, about: JsonObject): JsonObject => ({
  name,
  description: "Shows a file",
  permission: "readonly",
  command_type: "exec",
  command: "/bin/cat",
  output: "text",
  ...about,
});
const TOOLS: JsonObject[] = [
  shows("show.any", {
    input_schema: { type: "object", properties: { k: text, note: text } },
    args: ["--", "{{args.k}}"],
  }),
  shows("show.part", {
    input_schema: { type: "object", properties: { k: text } },
    args: ["--", "config/{{args.k}}"],
  }),
  shows("show.option", {
    command: "/bin/grep",
    input_schema: { type: "object", properties: { k: text } },
    args: ["--file={{args.k}}", "-v", "/dev/null"],
  }),
  shows("show.list", {
    input_schema: {
      type: "object",
      properties: { of: { type: "object", properties: { all: { type: "array", items: text } } } },
    },
    args: ["--", "{{args.of.all}}"],
  }),
  shows("show.there", {
    input_schema: { type: "object", properties: { k: text } },
    working_dir: "config",
    args: ["--", "{{args.k}}"],
  }),
  shows("show.inside", {
    input_schema: { type: "object" },
    working_dir: "config/secrets",
    args: ["--", "db"],
  }),
  shows("show.tree", {
    command: "/bin/grep",
    input_schema: { type: "object", properties: { word: text } },
    args: ["-r", "--", "{{args.word}}", "."],
  }),
  shows("keep.marked", {
    permission: "write",
    input_schema: { type: "object", properties: { to: { ...text, format: "path" } } },
    command: "/usr/bin/touch",
    args: ["--", "{{args.to}}"],
  }),
];

let home: string;
let project: string;
let kernel: Kernel;
let servers: McpServers;

beforeAll(async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-inputs-")));
  home = join(folder, "home");
  project = join(folder, "project");
  for (const at of ["home/tools", "project/config/secrets", "project/src"]) {
    await mkdir(join(folder, at), { recursive: true });
  }
  for (const [at, tool] of TOOLS.entries()) {
    await writeFile(join(home, "tools", `${at}.json`), JSON.stringify(tool));
  }
  await writeFile(join(project, "config/secrets/db"), "swordfish\n");
  await writeFile(join(project, ".env"), "KEY=swordfish\n");
  await writeFile(join(project, "src/a.txt"), "plain\n");
  await writeFile(join(home, "token"), "swordfish\n");
  await symlink("config/secrets", join(project, "link"));
  await link(join(project, "config/secrets/db"), join(project, "hard"));
  const program = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-filesystem/dist/index.js",
  );
  const entry = entryOf("fs", {
    transport: {
      kind: "stdio",
      command: process.execPath,
      args: [program, folder],
      env: {},
      cwd: project,
    },
    readonly_tools: "all",
  });
  const loaded = await loadDeclarativeTools(join(home, "tools"));
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  kernel = createKernel({ sources: [loaded.source] });
  servers = openMcpServers({
    entries: [entry],
    registry: kernel.registry,
    pins: await createPins(openPinFile(join(home, "pins.json"))),
    connect: (to) => openConnection(to, { roots: { project, write: [] } }),
  });
  await servers.ready(new AbortController().signal, 60_000);
});
afterAll(async () => {
  await servers.close();
  await rm(join(home, ".."), { recursive: true, force: true });
});

async function start(rules: readonly PermissionRule[], given: Partial<SessionOptions> = {}) {
  const asked: PermissionRequest[] = [];
  const journal = createMemoryJournal();
  const run = await kernel.startRun({
    journal,
    roots: { project, write: [] },
    ask(request) {
      asked.push(request);
      return { decision: "deny" };
    },
    resolvePath: (path) => resolvePathNow("/", path),
    findPath,
    ...given,
    policy: { rules, home: join(home, ".."), protected_roots: [home], ...given.policy },
  });
  return { run, asked, journal };
}

const secrets = (decision: "deny" | "ask"): PermissionRule[] => [
  { path: "config/secrets", decision },
];

const THROUGH_PROC: [string, JsonObject][] = [
  ["show.any", { k: "/proc/self/cwd/config/secrets/db" }],
  ["show.there", { k: "/proc/self/cwd/secrets/db" }],
  ["show.there", { k: "/proc/thread-self/cwd/../config/secrets/db" }],
  ["mcp.fs.read_text_file", { path: "/proc/self/cwd/config/secrets/db" }],
];

/** Every way of these tools to the file under the rule. */
const CALLS: [string, JsonObject][] = [
  ...(process.platform === "linux" ? THROUGH_PROC : []),
  ["show.any", { k: "config/secrets/db" }],
  ["show.any", { k: "link/db" }],
  ["show.any", { k: "hard" }],
  ["show.any", { k: "src/../config/./secrets/db" }],
  ["show.part", { k: "secrets/db" }],
  ["show.option", { k: "config/secrets/db" }],
  ["show.list", { of: { all: ["src/a.txt", "config/secrets/db"] } }],
  ["show.there", { k: "secrets/db" }],
  ["show.inside", {}],
  ["mcp.fs.read_text_file", { path: "config/secrets/db" }],
  ["mcp.fs.read_text_file", { path: "hard" }],
  ["mcp.fs.read_multiple_files", { paths: ["src/a.txt", "link/db"] }],
  ["mcp.fs.list_directory", { path: "config/secrets" }],
  ["show.any", { k: " config/secrets/db" }],
  ["mcp.fs.read_text_file", { path: " config/secrets/db " }],
  ["mcp.fs.read_text_file", { path: "src/a.txt,config/secrets/db" }],
  ["mcp.fs.read_text_file", { path: "file:config/secrets/db" }],
  ["mcp.fs.read_text_file", { path: "../config/secrets/db", cwd: "src" }],
  ["mcp.fs.read_text_file", { path: "src/a.txt", options: { name: "../../config/secrets/db" } }],
  ["mcp.fs.read_text_file", { path: "src", name: "../config/secrets/db" }],
  ["mcp.fs.read_text_file", { path: "src/a.txt", files: { "config/secrets/db": true } }],
  ["mcp.fs.read_multiple_files", { paths: ["../config/secrets/db"], root: "src" }],
  // Below the folder that the server was started for.
  ["mcp.fs.read_text_file", { path: "project/config/secrets/db" }],
];

describe.each(["deny", "ask"] as const)("a %s on a path", (decision) => {
  test.each(CALLS)("holds for %s %j", async (name, input) => {
    verifies("PERM-15");
    const { run, asked, journal } = await start(secrets(decision));
    const result = await run.call(name, input);
    expect([result.status, asked.length]).toEqual(
      decision === "deny" ? ["denied", 0] : ["rejected", 1],
    );
    expect(JSON.stringify([result, journal.facts, asked])).not.toContain("swordfish");
  });
});

test.each<[string, JsonObject]>([
  ["show.any", { k: ".env" }],
  ["show.any", { k: "HOME/token" }],
  ["show.tree", { word: "KEY" }],
  ["mcp.fs.read_text_file", { path: ".env" }],
  ["mcp.fs.read_text_file", { path: "HOME/token" }],
  // Not there, and the field says that it is a path.
  ["mcp.fs.read_text_file", { path: "src/.env.local" }],
])("what is sensitive requires approval: %s %j", async (name, input) => {
  verifies("PERM-15", "PATH-3", "PATH-6");
  const { run, asked } = await start([]);
  const given = JSON.parse(JSON.stringify(input).replace("HOME", home)) as JsonObject;
  expect((await run.call(name, given)).status).toBe("rejected");
  expect(asked.map(({ chain }) => chain[0]?.rule)).toEqual(["runtime.sensitive_path"]);
});

test("a guard of a path runs for the calls of these tools", async () => {
  verifies("PERM-15", "HOOK-1");
  const guard = defineHook({
    id: "guard",
    event: "PreToolUse",
    path: "config/secrets",
    run: () => ({ decision: "deny", reason: "guarded" }),
  });
  const { run } = await start([], { hooks: [guard] });
  const results = [
    await run.call("show.any", { k: "link/db" }),
    await run.call("mcp.fs.read_text_file", { path: "hard" }),
    await run.call("show.any", { k: "src/a.txt" }),
  ];
  expect(results.map(({ status }) => status)).toEqual(["denied", "denied", "succeeded"]);
});

test.each<[string, JsonObject]>([
  ["show.tree", { word: "fish" }],
  ["mcp.fs.directory_tree", { path: "." }],
  ["mcp.fs.search_files", { path: "config", pattern: "**" }],
])("a walk over a tree that holds it requires approval: %s", async (name, input) => {
  verifies("PERM-15");
  const { run, asked } = await start(secrets("deny"));
  expect((await run.call(name, input)).status).toBe("rejected");
  const reasons = asked[0]?.chain.map(({ reason }) => reason).join("\n");
  expect(reasons).toContain("could reach what a rule restricts");
});

test("text that mentions a file, and every other path, is as allowed as before", async () => {
  verifies("PERM-15");
  const rules: PermissionRule[] = [
    ...secrets("deny"),
    { path: "**/.env*", decision: "deny" },
    { path: "**/*fish*", decision: "deny" },
  ];
  const { run, asked } = await start(rules);
  const calls: [string, JsonObject][] = [
    ["show.any", { k: "src/a.txt", note: "put it into .env or config/secrets/db" }],
    ["show.any", { k: "src/a.txt", note: "never read\n.env\n" }],
    ["show.any", { k: "src/a.txt", note: "fish" }],
    ["show.any", { k: "src/a.txt", note: "https://example.com/.env" }],
    ["show.any", { k: "src/a.txt", note: "file: see .env, config/secrets/db" }],
    ...(process.platform === "linux"
      ? [["show.any", { k: "/proc/self/cwd/src/a.txt" }] satisfies [string, JsonObject]]
      : []),
    ["mcp.fs.read_text_file", { path: "project/src/a.txt" }],
    ["mcp.fs.search_files", { path: "project/src", pattern: "*.txt" }],
  ];
  for (const [name, input] of calls) {
    const result = await run.call(name, input);
    expect([name, result.status, result.error?.message]).toEqual([name, "succeeded", undefined]);
  }
  expect(asked).toEqual([]);
});

test("file URIs name paths, wherever they are in an input", async () => {
  verifies("PERM-15");
  const { run } = await start(secrets("deny"));
  const uri = `file://${project}/config/%73ecrets/db`;
  const result = await run.call("show.any", { k: "src/a.txt", note: uri });
  expect(result.status).toBe("denied");
});

test("a path that a declared tool marks is its target, as a rule that allows sees it", async () => {
  verifies("PERM-15", "PERM-14");
  const { run, asked } = await start([
    { tool: "keep.marked", path: "src/**", decision: "allow" },
    { tool: "mcp.fs.write_file", path: "src/**", decision: "allow" },
  ]);
  expect((await run.call("keep.marked", { to: "src/b.txt" })).error?.message).toBe(undefined);
  expect(asked).toEqual([]);
  expect((await run.call("keep.marked", { to: "c.txt" })).status).toBe("rejected");
  expect((await run.call("keep.marked", { to: join(home, "x") })).error?.code).toBe(
    "protected_path",
  );
  // What a server names is no target that a rule could allow.
  const written = await run.call("mcp.fs.write_file", { path: "src/c.txt", content: "x" });
  expect(written.status).toBe("rejected");
});
