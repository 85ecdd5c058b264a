// A command under a rule on a path (PERM-15): one that names it is judged by it; one that could reach it without naming
// it is asked about, whatever allows the program.

import { chmod, link, symlink } from "node:fs/promises";
import { join } from "node:path";
import { defineHook, type AnyHook, type PermissionRule } from "@soong/core";
import { resolveRulePath } from "@soong/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { hasProgram } from "../sandbox/world.ts";
import { explainCommand, allowCode, createWorkbench, type Workbench } from "./workbench.ts";

async function benchWith(rules: readonly PermissionRule[], hooks: AnyHook[] = []) {
  const bench = await createWorkbench({
    rules: [...allowCode, ...rules],
    session: { hooks, resolvePath: resolveRulePath },
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
  return (await explainCommand(bench, argv, cwd)).outcome;
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
  // What is searched for is named like a directory.
  ...(hasProgram("rg") ? [[["rg", "--type", "txt", "open"]] as [string[]]] : []),
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

  test.each(IN_REACH)("that could reach it requires approval: %j in %s", async (argv, cwd) => {
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

  test("needs no approval for a rule whose path holds nothing, or that is about writing where it reads", async () => {
    verifies("PERM-15");
    const nothing = await benchWith([{ path: "none/**", decision: "deny" }]);
    expect(await decided(nothing, ["npm", "test"])).toBe("allow");
    const writing = await benchWith([{ ...DENY, tags: ["write"] }]);
    expect(await decided(writing, ["npm", "test"])).toBe("ask");
    expect(await decided(writing, ["cat", "config/secrets/key.txt"])).toBe("allow");
    expect(await decided(writing, ["rm", "config/secrets/key.txt"])).toBe("deny");
  });

  test("a yes for the session covers exactly the command that was shown", async () => {
    verifies("PERM-15", "PERM-5");
    const bench = await benchWith([DENY]);
    const explained = await bench.run.explain({
      name: "code.run_command",
      arguments: { argv: ["grep", "-r", "secret"] },
    });
    expect(explained).toMatchObject({ scopes: [{ kind: "argv" }] });
  });

  test("a guard of such a path runs for a command that names it, and learns which path it is", async () => {
    verifies("PERM-15");
    const { guard, seen } = guardOfSecrets();
    const bench = await benchWith([], [guard]);
    const named = await bench.call("code.run_command", { argv: ["cat", "link/key.txt"] });
    expect(named).toMatchObject({ status: "denied", error: { code: "hook_denied" } });
    expect(seen).toEqual([join(bench.project, "config/secrets/key.txt")]);
    expect((await bench.call("code.run_command", { argv: ["echo", "hi"] })).status).toBe(
      "succeeded",
    );
  });

  test("a command that only may reach a guarded path asks, and the guard does not run for a guess", async () => {
    verifies("PERM-15");
    const { guard, seen } = guardOfSecrets();
    const bench = await benchWith([], [guard]);
    for (const argv of [
      ["npm", "test"],
      ["grep", "-r", "secret"],
    ]) {
      expect(await decided(bench, argv)).toBe("ask");
      const asked = await bench.call("code.run_command", { argv });
      expect(asked).toMatchObject({ status: "denied", error: { code: "restricted_path" } });
      expect(asked.error?.message).toMatch(
        /could reach ".*config\/secrets.*the hook "guard" guards/,
      );
    }
    expect(seen).toEqual([]);
    const spelled = await benchWith([NPM_TEST], [guard]);
    expect(await decided(spelled, ["npm", "test"])).toBe("allow");
    expect(await decided(spelled, ["npm", "run", "other"])).toBe("ask");
  });
});

const NPM_TEST: PermissionRule = {
  tool: "code.run_command",
  argv: ["npm", "test"],
  decision: "allow",
};

function guardOfSecrets() {
  const seen: unknown[] = [];
  const guard = defineHook({
    id: "guard",
    event: "PreToolUse",
    path: "config/secrets/**",
    run({ path }) {
      seen.push(path);
      return { decision: "deny", reason: "guarded" };
    },
  });
  return { guard, seen };
}

describe("a rule that spells out a command which could reach a restricted path", () => {
  test.each<[string[], PermissionRule]>([
    [["npm", "test"], NPM_TEST],
    [["make"], { ...NPM_TEST, argv: ["make"] }],
    [["node", "x.js"], { ...NPM_TEST, argv: ["node", "x.js"], exact_argv: true }],
    [["grep", "-r", "secret", "."], { ...NPM_TEST, argv: ["grep", "-r", "secret", "."] }],
  ])("answers the question: %j", async (argv, rule) => {
    verifies("PERM-15");
    expect(await decided(await benchWith([DENY]), argv)).toBe("ask");
    expect(await decided(await benchWith([DENY, rule]), argv)).toBe("allow");
    const ask: PermissionRule = { ...DENY, decision: "ask", every_time: true };
    expect(await decided(await benchWith([ask, rule]), argv)).toBe("allow");
  });

  test("answers nothing with a wildcard, for other arguments, or where the path is named", async () => {
    verifies("PERM-15");
    const bench = await benchWith([
      DENY,
      { ...NPM_TEST, argv: ["npm", "**"] },
      { ...NPM_TEST, argv: ["grep", "**"] },
      { ...NPM_TEST, argv: ["git", "-c", "core.pager=cat", "**"] },
      { ...NPM_TEST, argv: ["node", "config/secrets/key.txt"] },
    ]);
    expect(await decided(bench, ["npm", "test"])).toBe("ask");
    expect(await decided(bench, ["grep", "-r", "secret", "."])).toBe("ask");
    expect(await decided(bench, ["git", "-c", "core.pager=cat", "clean"])).toBe("ask");
    expect(await decided(bench, ["node", "config/secrets/key.txt"])).toBe("deny");
  });

  test("is offered as always, and a yes for the session holds", async () => {
    verifies("PERM-15", "PERM-18", "PERM-5");
    const bench = await createWorkbench({
      rules: [...allowCode, DENY],
      ask: async () => ({ decision: "allow_for_session" }),
    });
    onTestFinished(() => bench.close());
    await bench.write("config/secrets/key.txt", "the secret\n");
    await bench.write("package.json", '{ "scripts": { "test": "true" } }\n');
    for (let time = 0; time < 2; time += 1) {
      const result = await bench.call("code.run_command", { argv: ["npm", "test"] });
      expect(result.status).toBe("succeeded");
    }
    expect(bench.asked).toHaveLength(1);
    expect(bench.asked[0]).toMatchObject({
      always_rule: { argv: ["npm", "test"], exact_argv: true, decision: "allow" },
    });
  });
});

test.each<[string[], "ask" | "allow", string?]>([
  [["ls", "config"], "ask"],
  [["ls"], "ask", "config"],
  [["ls", "-1", "open", "config"], "ask"],
  [["ls", "-la", "named"], "ask"],
  [["ls", "named"], "allow"],
  [["ls"], "allow"],
  [["ls", "-d", "config"], "allow"],
  [["ls", "-Id", "--", "config"], "ask"],
  [["ls", "-la", "open"], "allow"],
])("%j, which shows names as list_dir does, is decided: %s", async (argv, decision, cwd) => {
  verifies("PERM-15");
  const bench = await benchWith([DENY, { path: "**/.env*", decision: "deny" }]);
  await bench.write("named/.env", "KEY=x\n");
  expect(await decided(bench, argv, cwd)).toBe(decision);
});

test("a listing shows what a rule about reading alone restricts", async () => {
  verifies("PERM-15");
  const bench = await benchWith([{ ...DENY, tool: "code.read_file" }]);
  expect(await decided(bench, ["ls", "config"])).toBe("allow");
});

test.each(["gehei\u0301m", "gehei\u0301m/**", "li\u0301nk/key"])(
  "what could reach %j asks, though the disk has its names in another Unicode form",
  async (path) => {
    verifies("PERM-15");
    const bench = await benchWith([{ path, decision: "deny" }]);
    expect(await decided(bench, ["make"])).toBe("allow");
    await bench.write("gehe\u00edm/key", "the secret\n");
    await symlink("gehe\u00edm", join(bench.project, "l\u00ednk"));
    expect(await decided(bench, ["make"])).toBe("ask");
    expect(await decided(bench, ["cat", "gehe\u00edm/key"])).toBe("deny");
  },
);
