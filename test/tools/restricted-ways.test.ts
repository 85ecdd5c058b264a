// The recipe "never touch secrets" of the cookbook, through every way a call can take to a path (PERM-15): whatever
// restricts it, nothing of the file, its neighbours or its existence is shown.

import { link, symlink } from "node:fs/promises";
import { join } from "node:path";
import { compilePolicy, defineHook, type AnyHook, type PermissionRule } from "@soong/core";
import { instructionFiles, resolvePathNow } from "@soong/tools";
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
];

async function runUnder({
  rules = [],
  hooks = [],
  child = [],
  parent = [],
}: (typeof WAYS_TO_RESTRICT)[0]) {
  const bench = await createWorkbench({
    rules: [...allowCode, ...rules],
    session: { hooks, resolvePath: (path) => resolvePathNow("/", path) },
  });
  onTestFinished(() => bench.close());
  await bench.write("config/secrets/db", "password = swordfish\n");
  await bench.write("config/secrets/neighbour-dbx", "swordfish\n");
  await bench.write("src/.env.local", "KEY=swordfish\n");
  await bench.write("src/a.txt", "nothing here\n");
  await symlink("config/secrets", join(bench.project, "link"));
  await link(join(bench.project, "config/secrets/db"), join(bench.project, "hard"));
  await symlink("config/secrets/db", join(bench.project, "AGENTS.md"));
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

test("a deny on read_file leaves an edit its write, and tells nothing of what it missed", async () => {
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
