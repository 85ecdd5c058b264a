// Restricted files that a repository holds (PERM-15): commands of git and others that can print what was committed respect a rule on a
// tracked path, also when the file is no longer in the working tree.

import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { PermissionRule } from "@soong/core";
import { verifies } from "#laws";
import { explainCommand, allowCode, createWorkbench, type Workbench } from "./workbench.ts";

async function repositoryWith(rules: readonly PermissionRule[]): Promise<Workbench> {
  const bench = await createWorkbench({ rules: [...allowCode, ...rules] });
  onTestFinished(() => bench.close());
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", ...args], {
      cwd: bench.project,
      env: { PATH: process.env["PATH"], HOME: bench.base },
    });
  await bench.write("config/key.txt", "the secret\n");
  await bench.write("config/old.txt", "an old secret\n");
  await bench.write("open/a.txt", "open\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "one");
  git("rm", "-q", "config/old.txt");
  git("commit", "-qm", "two");
  await rm(join(bench.project, "config/key.txt"));
  return bench;
}

async function decided(bench: Workbench, argv: string[]) {
  const { judgements } = await explainCommand(bench, argv);
  return judgements?.[0]?.decision;
}

const SHOWING = [
  ["git", "show", "HEAD~1"],
  ["git", "log", "-p"],
  ["git", "diff", "HEAD~1"],
  ["git", "cat-file", "-p", "HEAD:./config"],
  ["git", "cat-file", "--batch-all-objects", "--batch"],
  ["git", "grep", "secret", "HEAD"],
  ["git", "archive", "HEAD"],
  ["git", "stash", "show", "-p"],
  ["git", "worktree", "add", "elsewhere"],
  ["git", "clone", ".", "elsewhere"],
  ["cat", ".git/objects/pack/x.pack"],
  ["base64", ".git/index"],
  ["cp", "-r", ".git", "copy"],
  ["cp", ".git/objects/aa/bb", "copy"],
];

const NOT_SHOWING = [
  ["git", "branch"],
  ["git", "remote", "-v"],
  ["cat", ".git/HEAD"],
  ["cat", "open/a.txt"],
  ["ls", ".git"],
];

test("a rule on a tracked path holds for what the repository holds of it", async () => {
  verifies("PERM-15");
  // In the index and not in the working tree; in an older commit alone.
  for (const path of ["config/key.txt", "config/old.txt", "config/**"]) {
    const bench = await repositoryWith([{ path, decision: "deny" }]);
    for (const argv of SHOWING) {
      const decision = await decided(bench, argv);
      expect([path, argv, decision]).toEqual([path, argv, expect.stringMatching("ask|deny")]);
    }
    for (const argv of NOT_SHOWING) {
      expect([path, argv, await decided(bench, argv)]).toEqual([path, argv, "allow"]);
    }
  }
});

test("a rule on a tracked path holds for any Unicode form of its names", async () => {
  verifies("PERM-15");
  for (const path of ["gehei\u0301m/a.txt", "**/gehei\u0301m", "gehei\u0301m/*.txt"]) {
    const bench = await repositoryWith([{ path, decision: "deny" }]);
    await bench.write("gehe\u00edm/a.txt", "the secret\n");
    gitIn(bench, "add", ".");
    for (const argv of [
      ["git", "diff", "--cached"],
      ["git", "diff", "--cached", "--", "gehe\u00edm"],
    ]) {
      const decision = await decided(bench, argv);
      expect([path, argv, decision]).toEqual([path, argv, expect.stringMatching("ask|deny")]);
    }
  }
});

test("a rule on a path holds for objects that no commit names any more", async () => {
  verifies("PERM-15", "PATH-3");
  for (const [path, rules] of [
    ["private.txt", [{ path: "private.txt", decision: "deny" }]],
    [".env", []],
  ] as [string, PermissionRule[]][]) {
    const bench = await repositoryWith(rules);
    await bench.write(path, "staged once\n");
    gitIn(bench, "add", path);
    const tree = gitIn(bench, "write-tree").trim();
    const commit = gitIn(bench, "commit-tree", "-m", "x", tree).trim();
    const blob = gitIn(bench, "rev-parse", `:${path}`).trim();
    gitIn(bench, "reset", "-q");
    const plain = gitIn(bench, "rev-parse", "HEAD:open/a.txt").trim();
    const head = gitIn(bench, "rev-parse", "HEAD").trim();
    for (const argv of [
      ["cat-file", "-p", blob],
      ["cat-file", "blob", blob.slice(0, 7)],
      ["show", blob],
      ["show", commit],
      ["show", `${commit}^{tree}:${path}`],
      ["archive", tree],
      ["diff", blob, plain],
      ["diff", `${commit}..${head}`],
      ["grep", "secret", tree],
      ["tag", "kept", blob],
      ["fsck", "--lost-found"],
      ["cat-file", "--batch-all-objects", "--batch"],
    ]) {
      const decision = await decided(bench, ["git", ...argv]);
      expect([path, argv, decision]).toEqual([path, argv, expect.stringMatching("ask|deny")]);
    }
    for (const argv of [
      ["cat-file", "-p", plain],
      ["show", head],
      ["diff", `${head.slice(0, 8)}~1`, head],
      ["log", "-p", head],
      ["grep", "face", `${head}^{tree}`],
      ["tag", "v1", head],
      ["fsck"],
    ]) {
      expect([path, argv, await decided(bench, ["git", ...argv])]).toEqual([path, argv, "allow"]);
    }
  }
});

test("a rule on a path that was never tracked asks for nothing", async () => {
  verifies("PERM-15");
  const bench = await repositoryWith([{ path: "none/**", decision: "deny" }]);
  for (const argv of [...SHOWING.filter(([name]) => name === "git"), ...NOT_SHOWING]) {
    expect([argv, await decided(bench, argv)]).toEqual([argv, "allow"]);
  }
});

test("a sensitive file that is tracked asks where all files are shown", async () => {
  verifies("PATH-3");
  const bench = await repositoryWith([]);
  for (const argv of [
    ["git", "grep", "x"],
    ["git", "archive", "HEAD"],
  ]) {
    expect([argv, await decided(bench, argv)]).toEqual([argv, "allow"]);
  }
  await bench.write("config/server.pem", "");
  execFileSync("git", ["add", "."], { cwd: bench.project, env: { PATH: process.env["PATH"] } });
  for (const argv of [
    ["git", "grep", "x"],
    ["git", "archive", "HEAD"],
  ]) {
    expect([argv, await decided(bench, argv)]).toEqual([argv, "ask"]);
  }
});

function gitIn(bench: Workbench, ...args: string[]): string {
  return execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", ...args], {
    cwd: bench.project,
    env: { PATH: process.env["PATH"], HOME: bench.base },
    encoding: "utf8",
  });
}

const PRINTING = [
  ["git", "diff"],
  ["git", "diff", "--cached"],
  ["git", "diff", "HEAD"],
  ["git", "diff", "HEAD~1", "HEAD"],
  ["git", "diff", "HEAD~1...HEAD"],
  ["git", "diff", "--", "open"],
  ["git", "show", "HEAD"],
  ["git", "show"],
  ["git", "log", "-p"],
  ["git", "log", "-p", "-1"],
  ["git", "log", "-p", "--", "open"],
  ["git", "format-patch", "HEAD~1"],
  ["git", "bundle", "create", "x.bundle", "--all"],
  ["git", "fast-export", "--all"],
  ["git", "cat-file", "--batch-all-objects", "--batch"],
  ["git", "stash", "show", "-p"],
  ["sh", "-c", "git diff HEAD"],
];

async function asking(bench: Workbench): Promise<string[]> {
  const asks: string[] = [];
  for (const argv of PRINTING) {
    if ((await decided(bench, argv)) !== "allow") asks.push(argv.slice(1).join(" "));
  }
  return asks;
}

test("git commands that print contents ask only where a sensitive file is among them", async () => {
  verifies("PATH-3");
  const bench = await repositoryWith([]);
  const inHistory = [
    "bundle create x.bundle --all",
    "fast-export --all",
    "cat-file --batch-all-objects --batch",
  ];
  await bench.write(".gitignore", ".env\n");
  await bench.write(".env", "KEY=secret\n");
  await bench.write("open/a.txt", "changed\n");
  gitIn(bench, "add", "-A");
  expect(await asking(bench)).toEqual([]);

  gitIn(bench, "add", "-f", ".env");
  expect(await asking(bench)).toEqual([
    "diff --cached",
    "diff HEAD",
    ...inHistory,
    "-c git diff HEAD",
  ]);

  gitIn(bench, "commit", "-qm", "three");
  expect(await asking(bench)).toEqual([
    "diff HEAD~1 HEAD",
    "diff HEAD~1...HEAD",
    "show HEAD",
    "show",
    "log -p",
    "log -p -1",
    "format-patch HEAD~1",
    ...inHistory,
  ]);
  const blob = gitIn(bench, "rev-parse", "HEAD:.env").trim();
  const plain = gitIn(bench, "rev-parse", "HEAD:open/a.txt").trim();
  for (const command of [["cat-file", "-p"], ["cat-file", "blob"], ["show"]]) {
    expect(await decided(bench, ["git", ...command, blob])).toBe("ask");
    expect(await decided(bench, ["git", ...command, plain])).toBe("allow");
  }

  await bench.write(".env", "KEY=other\n");
  expect(await decided(bench, ["git", "diff"])).toBe("ask");
  expect(await decided(bench, ["git", "diff", "--stat"])).toBe("allow");
  expect(await decided(bench, ["git", "diff", "--", "open"])).toBe("allow");
  expect(await decided(bench, ["git", "diff", "-S", "KEY", "HEAD~1"])).toBe("ask");
  expect(await decided(bench, ["git", "log", "-p", "-n", "1", "HEAD~1"])).toBe("allow");
  gitIn(bench, "stash", "-q");
  expect(await decided(bench, ["git", "stash", "show", "-p"])).toBe("ask");
});

test("an ignored file that was stashed asks where the stash is printed", async () => {
  verifies("PATH-3");
  const bench = await repositoryWith([]);
  await bench.write(".gitignore", ".env\n");
  await bench.write(".env", "KEY=secret\n");
  gitIn(bench, "stash", "-aq");
  const show = ["git", "stash", "show", "-p"];
  expect(await decided(bench, [...show, "--include-untracked"])).toBe("ask");
  expect(await decided(bench, show)).toBe("allow");
});
