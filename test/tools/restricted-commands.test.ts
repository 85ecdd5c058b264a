// A command under a rule on a path (PERM-15): one that names it is judged by it; one that could reach it without naming
// it is asked about, whatever allows the program.

import { chmod, link, symlink } from "node:fs/promises";
import { join } from "node:path";
import { defineHook, type AnyHook, type PermissionRule } from "@soong/core";
import { resolvePathNow } from "@soong/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { allowCode, createWorkbench, type Workbench } from "./workbench.ts";

async function benchWith(rules: readonly PermissionRule[], hooks: AnyHook[] = []) {
  const bench = await createWorkbench({
    rules: [...allowCode, ...rules],
    session: { hooks, resolvePath: (path) => resolvePathNow("/", path) },
  });
  onTestFinished(() => bench.close());
  await bench.write("config/secrets/key.txt", "the secret\n");
  await bench.write("open/a.txt", "in the open\n");
  await bench.write("open/below/b.txt", "below\n");
  await bench.write("open/ls", "#!/bin/sh\n");
  await chmod(join(bench.project, "open/ls"), 0o755);
  await symlink("open/below", join(bench.project, "deep"));
  await symlink("config/secrets", join(bench.project, "link"));
  await link(join(bench.project, "config/secrets/key.txt"), join(bench.project, "hard.txt"));
  return bench;
}

async function decided(bench: Workbench, argv: string[], cwd?: string) {
  // A run of its own: where the links of a rule lead is looked up when a run starts.
  const run = await bench.session.startRun();
  const explained = await run.explain({
    name: "code.run_command",
    arguments: { argv, ...(cwd === undefined ? {} : { cwd }) },
  });
  return explained.outcome;
}

const DENY: PermissionRule = { path: "config/secrets", decision: "deny" };

const NAMING: [string[], string?][] = [
  [["cat", "config/secrets/key.txt"]],
  [["cat", "./open/../config/secrets/key.txt"]],
  [["cat", "link/key.txt"]],
  [["cat", "hard.txt"]],
  [["cat", "key.txt"], "config/secrets"],
  [["ls"], "link"],
  [["cat", "secrets/key.txt"], "config"],
  [["head", "--file=config/secrets/key.txt"]],
  [["grep", "-fconfig/secrets/key.txt", "open/a.txt"]],
  [["curl", "-d", "@config/secrets/key.txt", "http://localhost"]],
  [["git", "show", "HEAD:config/secrets/key.txt"]],
  [["cp", "open/a.txt", "config/secrets/new.txt"]],
  [["sh", "-c", "cat <config/secrets/key.txt"]],
  [["sh", "-c", "echo x >config/secrets/key.txt"]],
  [["rm", "-r", "config/secrets"]],
  // Behind a link ".." leads elsewhere than by its letters.
  [["cat", "deep/../../config/secrets/key.txt"]],
  [["touch", "deep/../../config/secrets/new.txt"]],
  [["cat", "/proc/self/cwd/config/secrets/key.txt"]],
  [["cat", "/proc/self/cwd/../config/secrets/key.txt"], "open"],
  [["dd", "if=config/secrets/a (key), of=mine.txt"]],
];

const IN_REACH: [string[], string?][] = [
  [["node", "x.js"]],
  [["sh", "-c", "cat $(echo con)fig/sec*/k*"]],
  [["npm", "test"]],
  [["tar", "cf", "x.tar", "."]],
  [["grep", "-r", "secret", "."]],
  [["grep", "-r", "secret"]],
  [["find", "."]],
  [["cp", "-r", "config", "elsewhere"]],
  [["mv", "config", "elsewhere"]],
  [["ls", "-R"]],
  [["du"], "config"],
  [["grep", "-d", "recurse", "secret", "."]],
  [["grep", "--dir=recurse", "secret", "."]],
  [["grep", "--recursiv", "secret", "."]],
  [["ls", "--recursiv", "."]],
  [["cp", "--recursiv", ".", "/tmp/elsewhere"]],
  [["wc", "--files0-from=open/a.txt"]],
  [["md5sum", "-c", "open/a.txt"]],
  // Named like a plain program, and anything at all.
  [["open/ls"]],
];

const APART: [string[], string?][] = [
  [["cat", "open/a.txt"]],
  [["ls"]],
  [["grep", "-r", "x", "open"]],
  [["cp", "-r", "open", "elsewhere"]],
  [["find", "open"]],
  [["rm", "-r", "open"]],
  [["echo", "hello"]],
  [["ls", "-la"]],
  [["sort", "-r", "open/a.txt"]],
];

describe("a command under a rule on a path", () => {
  test.each(NAMING)("that names it is denied: %j in %s", async (argv, cwd) => {
    verifies("PERM-15");
    expect(await decided(await benchWith([DENY]), argv, cwd)).toBe("deny");
    expect(await decided(await benchWith([{ ...DENY, path: "link/**" }]), argv, cwd)).toBe("deny");
    const readOnly = { ...DENY, tool: "code.read_file" };
    expect(await decided(await benchWith([readOnly]), argv, cwd)).toBe("deny");
    const ask: PermissionRule = { ...DENY, decision: "ask", every_time: true };
    expect(await decided(await benchWith([ask]), argv, cwd)).toBe("ask");
  });

  test.each(IN_REACH)("that could reach it is asked about: %j in %s", async (argv, cwd) => {
    verifies("PERM-15");
    for (const rule of [DENY, { path: "**/key.txt", decision: "deny" } as const]) {
      const bench = await benchWith([rule]);
      expect(await decided(bench, argv, cwd)).toBe("ask");
      const result = await bench.call("code.run_command", {
        argv,
        ...(cwd === undefined ? {} : { cwd }),
      });
      expect(result).toMatchObject({ status: "denied", error: { code: "restricted_path" } });
    }
  });

  test.each(APART)("that does not reach it is as allowed as before: %j", async (argv, cwd) => {
    verifies("PERM-15");
    expect(await decided(await benchWith([DENY]), argv, cwd)).toBe("allow");
  });

  test("is not asked about for a rule whose path holds nothing, or that is about writing", async () => {
    verifies("PERM-15");
    const nothing = await benchWith([{ path: "none/**", decision: "deny" }]);
    expect(await decided(nothing, ["npm", "test"])).toBe("allow");
    const writing = await benchWith([{ ...DENY, tags: ["write"] }]);
    expect(await decided(writing, ["npm", "test"])).toBe("allow");
    expect(await decided(writing, ["cat", "config/secrets/key.txt"])).toBe("allow");
    expect(await decided(writing, ["rm", "config/secrets/key.txt"])).toBe("deny");
  });

  test("a yes for the session covers exactly the command that was asked about", async () => {
    verifies("PERM-15", "PERM-5");
    const bench = await benchWith([DENY]);
    const explained = await bench.run.explain({
      name: "code.run_command",
      arguments: { argv: ["grep", "-r", "secret"] },
    });
    expect(explained).toMatchObject({ scopes: [{ kind: "argv" }] });
  });

  test("a guard with such a path is shown it", async () => {
    verifies("PERM-15");
    const seen: unknown[] = [];
    const guard = defineHook({
      id: "guard",
      event: "PreToolUse",
      path: "config/secrets/**",
      run({ input }) {
        seen.push(input);
        return { decision: "deny", reason: "guarded" };
      },
    });
    const bench = await benchWith([], [guard]);
    for (const argv of [
      ["cat", "link/key.txt"],
      ["npm", "test"],
      ["grep", "-r", "secret"],
    ]) {
      expect((await bench.call("code.run_command", { argv })).status).toBe("denied");
    }
    expect(seen).toHaveLength(3);
    expect((await bench.call("code.run_command", { argv: ["echo", "hi"] })).status).toBe(
      "succeeded",
    );
  });
});
