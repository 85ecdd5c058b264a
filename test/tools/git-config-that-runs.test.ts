// An allow on `git **` and the repository git finds (PERM-16): a repository that is not the project's own, or a setting that runs
// a program, asks; what users have in their repositories does not.

import { chmod, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { PermissionRule } from "@soong/core";
import { verifies } from "#laws";
import { createWorkbench, explainCommand, type Workbench } from "./workbench.ts";

const GIT: PermissionRule = {
  tool: "code.run_command",
  argv: ["git", "**"],
  decision: "allow",
};

async function projectWith(config: string, rules: readonly PermissionRule[] = [GIT]) {
  const bench = await createWorkbench({ rules });
  onTestFinished(() => bench.close());
  await repository(bench, ".git", config);
  return bench;
}

async function repository(bench: Workbench, at: string, config: string): Promise<void> {
  await bench.write(`${at}/HEAD`, "ref: refs/heads/main\n");
  await bench.write(`${at}/objects/info/x`, "");
  await bench.write(`${at}/refs/heads/x`, "");
  await bench.write(`${at}/config`, config);
}

async function explained(bench: Workbench, argv: string[], cwd?: string) {
  const { judgements } = await explainCommand(bench, argv, cwd);
  return { decision: judgements?.[0]?.decision, reason: judgements?.[0]?.reason };
}

const PLAIN = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const RUNS = `${PLAIN}\tfsmonitor = ./evil\n`;

describe("an allow on git", () => {
  test("covers no other repository whose config may run a program, and says why", async () => {
    verifies("PERM-16");
    const bench = await projectWith(PLAIN);
    await repository(bench, "nested/.git", RUNS);
    await repository(bench, "bare", `${PLAIN}\tsshCommand = ./evil\n`);
    await repository(bench, "good/.git", PLAIN);
    await bench.write("linked/.git", "gitdir: ../bare\n");
    for (const [argv, cwd] of [
      [["git", "-C", "nested", "status"]],
      [["git", "-C", "bare", "fetch"]],
      [["git", "-C", "nested", "-C", ".", "add", "."]],
      [["git", "-C", "linked", "fetch"]],
      [["git", "fetch"], "bare"],
      [["git", "commit", "-m", "x"], "nested"],
      [["git", "add", "."], "bare/objects"],
    ] as [string[], string?][]) {
      const { decision, reason } = await explained(bench, argv, cwd);
      expect([argv, decision]).toEqual([argv, "ask"]);
      expect(reason).toMatch(/repository/);
    }
    expect((await explained(bench, ["git", "-C", "good", "commit", "-m", "x"])).decision).toBe(
      "allow",
    );
    expect((await explained(bench, ["git", "clone", "x", "y"], "nested")).decision).toBe("allow");
  });

  test("covers no hook of another repository", async () => {
    verifies("PERM-16");
    const bench = await projectWith(PLAIN);
    await repository(bench, "good/.git", PLAIN);
    const hook = await bench.write("good/.git/hooks/post-commit", "#!/bin/sh\n");
    await chmod(hook, 0o755);
    const { decision, reason } = await explained(bench, ["git", "commit", "-m", "x"], "good");
    expect(decision).toBe("ask");
    expect(reason).toContain(join(bench.project, "good/.git/hooks/post-commit"));
  });

  test.each([
    "[core]\n\tfsmonitor = ./evil\n",
    "[core]\n\tsshCommand = ./evil\n",
    "[core]\n\teditor = ./evil\n",
    "[diff]\n\texternal = ./evil\n",
    '[diff "x"]\n\ttextconv = ./evil\n',
    '[filter "x"]\n\tsmudge = ./evil\n',
    '[merge "x"]\n\tdriver = ./evil\n',
    "[gpg]\n\tprogram = ./evil\n",
    "[credential]\n\thelper = !./evil\n",
    "[include]\n\tpath = ../evil\n",
    '[remote "x"]\n\tuploadpack = ./evil\n',
    "[core] fsmonitor = ./evil\n",
    "[core]\n\tfsmonitor = \\\n./evil\n",
  ])(
    "covers no setting of the project's own repository that runs a program: %j",
    async (config) => {
      verifies("PERM-16");
      const bench = await projectWith(config);
      const { decision, reason } = await explained(bench, ["git", "pull"]);
      expect(decision).toBe("ask");
      expect(reason).toContain(join(bench.project, ".git/config"));
    },
  );

  test("covers what users have in the config of their own project", async () => {
    verifies("PERM-16");
    const bench = await projectWith(`${PLAIN}
	hooksPath = .husky/_
	fsmonitor = true
	untrackedCache = true
	sshCommand = ssh -i ~/.ssh/work -o IdentitiesOnly=yes
[alias]
	st = status
	x = !make
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge -- %f
	process = git-lfs filter-process
	required = true
[credential]
	helper = store
[commit]
	gpgsign = true
[gitflow "branch"]
	master = main
[remote "origin"]
	url = git@example.org:a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
`);
    for (const argv of [
      ["git", "status"],
      ["git", "commit", "-m", "x"],
      ["git", "push"],
    ]) {
      expect([argv, (await explained(bench, argv)).decision]).toEqual([argv, "allow"]);
    }
  });

  test("that spells the command out covers the project's own config, and no other repository's", async () => {
    verifies("PERM-16");
    const bench = await projectWith(RUNS, [{ ...GIT, argv: ["git", "fetch"] }]);
    await repository(bench, "nested/.git", RUNS);
    expect((await explained(bench, ["git", "fetch"])).decision).toBe("allow");
    expect((await explained(bench, ["git", "fetch"], "nested")).decision).toBe("ask");
  });

  test("a deny on another program asks where a config may run it", async () => {
    verifies("PERM-16");
    const rules: PermissionRule[] = [
      { tool: "code.run_command", decision: "allow" },
      { argv: ["rm", "**"], decision: "deny" },
    ];
    const bench = await projectWith(RUNS, rules);
    expect((await explained(bench, ["git", "add", "."])).decision).toBe("ask");
    const plain = await projectWith(PLAIN, rules);
    expect((await explained(plain, ["git", "add", "."])).decision).toBe("allow");
  });

  test.each([
    ["git", [GIT]],
    ["any command", [{ tool: "code.run_command", decision: "allow" } as const]],
  ])("covers no file of the repository that is one of another place: %s", async (_, rules) => {
    verifies("PERM-15");
    const bench = await projectWith(PLAIN, rules);
    await bench.write("notes.txt", "mine\n");
    for (const argv of [
      ["git", "status"],
      ["git", "-C", ".", "log"],
      ["sh", "-c", "git log"],
    ].slice(0, rules[0]?.argv === undefined ? 3 : 2)) {
      expect([argv, (await explained(bench, argv)).decision]).toEqual([argv, "allow"]);
      await symlink("../notes.txt", join(bench.project, ".git/shallow"));
      const { decision, reason } = await explained(bench, argv);
      expect([argv, decision]).toEqual([argv, "ask"]);
      expect(reason).toContain(join(bench.project, ".git/shallow"));
      await rm(join(bench.project, ".git/shallow"));
    }
  });
});
