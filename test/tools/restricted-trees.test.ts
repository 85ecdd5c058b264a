// Searching and listing a tree in which a rule or a guard restricts something (PERM-15): omitted, and counted.

import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compilePolicy, defineHook, type AnyHook, type PermissionRule } from "@soong/core";
import { resolvePathNow } from "@soong/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createWorkbench, dataOf, textOf, type Workbench } from "./workbench.ts";

const resolvePath = (path: string) => resolvePathNow("/", path);

const guard = (path: string, about: Partial<AnyHook> = {}): AnyHook =>
  defineHook({
    id: "guard",
    event: "PreToolUse",
    path,
    ...about,
    run: () => ({ decision: "deny", reason: "guarded" }),
  } as never);

async function benchWith(
  rules: readonly PermissionRule[],
  { hooks = [], parent = [] }: { hooks?: AnyHook[]; parent?: readonly PermissionRule[] } = {},
): Promise<Workbench> {
  const above = parent.length === 0 ? undefined : { rules: parent };
  const bench = await createWorkbench({
    rules,
    session: { hooks, resolvePath },
    ...(above === undefined
      ? {}
      : {
          policy: {
            rules,
            ceiling: (() => {
              const compiled = compilePolicy({ ...above, roots: { project: "/", write: [] } });
              if (!compiled.ok) throw new Error("the parent's policy does not compile");
              return compiled.policy;
            })(),
          },
        }),
  });
  onTestFinished(() => bench.close());
  await bench.write("secrets/key.txt", "needle of the secret\n");
  await bench.write("secrets/deep/more.txt", "needle, deeper\n");
  await bench.write("open.txt", "needle in the open\n");
  return bench;
}

const DENY: PermissionRule = { path: "secrets/**", decision: "deny" };

const WAYS: {
  name: string;
  rules: PermissionRule[];
  hooks?: AnyHook[];
  parent?: PermissionRule[];
}[] = [
  { name: "a deny", rules: [DENY] },
  { name: "a deny on the directory itself", rules: [{ path: "secrets", decision: "deny" }] },
  { name: "a deny with a slash at its end", rules: [{ path: "secrets/", decision: "deny" }] },
  { name: "an ask", rules: [{ path: "secrets/**", decision: "ask" }] },
  {
    name: "an ask every time",
    rules: [{ path: "secrets/**", decision: "ask", every_time: true }],
  },
  {
    name: "a deny beside an allow of everything",
    rules: [DENY, { tool: "*", decision: "allow" }, { path: "**", decision: "allow" }],
  },
  { name: "a deny for all tools of files", rules: [{ ...DENY, tool: "code.*" }] },
  { name: "a deny for what only reads", rules: [{ ...DENY, tags: ["readonly"] }] },
  {
    name: "a deny of the parent's",
    rules: [],
    parent: [{ path: "/**/secrets", decision: "deny" }],
  },
  { name: "a guard with such a path", rules: [], hooks: [guard("secrets/**")] },
];

describe("what is restricted in a tree", () => {
  test.each(WAYS)("is omitted from a search, and counted: $name", async ({ rules, ...more }) => {
    verifies("PERM-15", "PERM-12");
    const bench = await benchWith(rules, more);
    for (const query of ["needle", "of the secret", "nothing of the kind"]) {
      const found = await bench.call("code.search", { query });
      expect(found.status).toBe("succeeded");
      expect(JSON.stringify(found)).not.toMatch(/key\.txt|more\.txt|of the secret\\n|deeper/);
      expect(dataOf(found)["restricted_files_left_out"], query).toBe(1);
    }
    const found = await bench.call("code.search", { query: "needle" });
    expect(dataOf(found)["matches"]).toMatchObject([{ path: "open.txt" }]);
    expect(textOf(found)).toContain("(Omitted because a rule restricts them: 1.)");
  });

  test.each(WAYS)("is omitted from a listing, and counted: $name", async ({ rules, ...more }) => {
    verifies("PERM-15");
    const bench = await benchWith(rules, more);
    const listed = await bench.call("code.list_dir", { recursive: true });
    expect(listed.status).toBe("succeeded");
    expect(JSON.stringify(listed)).not.toMatch(/key\.txt|more\.txt/);
    expect(dataOf(listed)["restricted_left_out"]).toBe(1);
  });

  test.each(WAYS)(
    "is not searched or listed when named directly either: $name",
    async ({ rules, ...more }) => {
      verifies("PERM-15");
      const bench = await benchWith(rules, more);
      for (const path of ["secrets", "secrets/deep", "secrets/key.txt", "./secrets/../secrets"]) {
        const found = await bench.call("code.search", { query: "needle", path });
        expect([found.status, JSON.stringify(found).includes("of the secret")], path).toEqual([
          "denied",
          false,
        ]);
      }
      const listed = await bench.call("code.list_dir", { path: "secrets" });
      expect(listed.status).toBe("denied");
      expect(JSON.stringify(listed)).not.toContain("key.txt");
    },
  );

  test("is searched after a yes to the directory that was named, and only what that rule restricts", async () => {
    verifies("PERM-15");
    const bench = await createWorkbench({
      rules: [
        { path: "secrets/**", decision: "ask" },
        { path: "secrets/deep", decision: "deny" },
      ],
      ask: () => ({ decision: "allow_once" }),
    });
    onTestFinished(() => bench.close());
    await bench.write("secrets/key.txt", "needle of the secret\n");
    await bench.write("secrets/deep/more.txt", "needle, deeper\n");
    const found = await bench.call("code.search", { query: "needle", path: "secrets" });
    expect(dataOf(found)).toMatchObject({
      matches: [{ path: "secrets/key.txt" }],
      restricted_files_left_out: 1,
    });
    expect(bench.asked).toHaveLength(1);
  });

  test("a deny on read_file holds for what a search shows, not for names", async () => {
    verifies("PERM-15");
    const bench = await benchWith([{ ...DENY, tool: "code.read_file" }]);
    const found = await bench.call("code.search", { query: "needle" });
    expect(JSON.stringify(found)).not.toContain("of the secret");
    expect(dataOf(found)["restricted_files_left_out"]).toBe(1);
    const inside = await bench.call("code.search", { query: "needle", path: "secrets" });
    expect(inside.status).toBe("denied");
    const listed = await bench.call("code.list_dir", { recursive: true });
    expect(textOf(listed)).toContain("secrets/key.txt");
  });

  test("a rule about writing leaves reading alone", async () => {
    verifies("PERM-15");
    const bench = await benchWith([
      { ...DENY, tags: ["write"] },
      { ...DENY, tool: "code.write_file" },
    ]);
    const found = await bench.call("code.search", { query: "needle" });
    expect(dataOf(found)).toMatchObject({ restricted_files_left_out: 0, files_with_matches: 3 });
  });

  test("a rule whose own path goes through a link holds for the place it leads to", async () => {
    verifies("PERM-15");
    const bench = await createWorkbench({ rules: [], session: { resolvePath } });
    onTestFinished(() => bench.close());
    await bench.write("secrets/key.txt", "needle of the secret\n");
    await symlink("secrets", join(bench.project, "link"));
    const run = await bench.session.startRun({
      policy: { rules: [{ path: "link/**", decision: "deny" }] },
    });
    const [found, listed, read] = await run.execute([
      { name: "code.search", arguments: { query: "needle" } },
      { name: "code.list_dir", arguments: { path: "secrets" } },
      { name: "code.read_file", arguments: { path: "secrets/key.txt" } },
    ]);
    expect(dataOf(found as never)).toMatchObject({ matches: [], restricted_files_left_out: 2 });
    expect([listed?.status, read?.status]).toEqual(["denied", "denied"]);
    expect(JSON.stringify([found, listed, read])).not.toContain("of the secret");
  });

  test("a listing does not show where a link leads, if that is restricted", async () => {
    verifies("PERM-15");
    const bench = await benchWith([DENY]);
    await symlink("secrets/key.txt", join(bench.project, "pointer"));
    await symlink("open.txt", join(bench.project, "plain"));
    const listed = await bench.call("code.list_dir", {});
    expect(textOf(listed)).toContain("l pointer\n");
    expect(textOf(listed)).toContain("plain -> open.txt");
    expect(JSON.stringify(listed)).not.toContain("key.txt");
  });

  test("a name in another Unicode form is the same name", async () => {
    verifies("PERM-15");
    const bench = await createWorkbench({
      rules: [{ path: "gehe\u00edm/**", decision: "deny" }],
    });
    onTestFinished(() => bench.close());
    await bench.write("gehei\u0301m/key.txt", "needle of the secret\n");
    await bench.write("gehe\u00edm/key.txt", "needle of the secret\n");
    const found = await bench.call("code.search", { query: "needle" });
    expect(dataOf(found)).toMatchObject({ matches: [], restricted_files_left_out: 2 });
    const read = await bench.call("code.read_file", { path: "gehei\u0301m/key.txt" });
    expect(read.status).toBe("denied");
  });

  test.each([
    { path: "secrets/**", decision: "deny" as const },
    { path: "secrets/key.txt", decision: "deny" as const },
    { path: "**/key.*", decision: "ask" as const },
  ])("a hard link to a restricted file is that file: $path", async (rule) => {
    verifies("PERM-15");
    const bench = await benchWith([rule]);
    await link(join(bench.project, "secrets/key.txt"), join(bench.project, "innocent.txt"));
    const found = await bench.call("code.search", { query: "of the secret" });
    expect(dataOf(found)["matches"]).toEqual([]);
    expect(JSON.stringify(found)).not.toContain("needle of the secret");
  });

  test("the home of the runtime is omitted wherever it is", async () => {
    verifies("PATH-6");
    const bench = await createWorkbench({ rules: [] });
    onTestFinished(() => bench.close());
    const home = join(bench.project, "inside");
    await mkdir(home);
    await writeFile(join(home, "store.db"), "needle of the store\n");
    const run = await bench.session.startRun({ policy: { protected_roots: [home] } });
    const [found, listed, read] = await run.execute([
      { name: "code.search", arguments: { query: "needle" } },
      { name: "code.list_dir", arguments: { recursive: true } },
      { name: "code.read_file", arguments: { path: "inside/store.db" } },
    ]);
    expect(dataOf(found as never)).toMatchObject({
      matches: [],
      sensitive_files_left_out: 1,
      engine: "ripgrep",
    });
    expect(JSON.stringify([found, listed])).not.toContain("store.db");
    expect(read).toMatchObject({ status: "denied", error: { code: "sensitive_path" } });
  });

  test("ripgrep still searches where rules on paths are all it needs", async () => {
    verifies("PERM-15", "CODE-3");
    const bench = await benchWith([DENY, { path: "**/.env*", decision: "deny" }]);
    await bench.write("src/.envy", "needle\n");
    const found = await bench.call("code.search", { query: "needle", hidden: true });
    expect(dataOf(found)).toMatchObject({ engine: "ripgrep", restricted_files_left_out: 2 });
  });
});
