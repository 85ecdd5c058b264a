// A rule about writing a path (PERM-15) holds for commands that write whole trees, or whose input decides what is written; and it does
// not hold for commands that only read.

import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { PermissionRule } from "@soong/core";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { explainCommand, allowCode, createWorkbench, type Workbench } from "./workbench.ts";

const WRITE: PermissionRule = { path: "infra/**", tags: ["write"], decision: "deny" };

function patchOf(name: string): string {
  return `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-a\n+b\n`;
}

async function repositoryWith(rules: readonly PermissionRule[]): Promise<Workbench> {
  const bench = await createWorkbench({ rules: [...allowCode, ...rules] });
  onTestFinished(() => bench.close());
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", ...args], {
      cwd: bench.project,
      env: { PATH: process.env["PATH"], HOME: bench.base },
    });
  await bench.write("infra/main.tf", "a\n");
  await bench.write("src/a.txt", "a\n");
  await bench.write("src/deep/b.ts", "b\n");
  await bench.write("over/infra/main.tf", "evil\n");
  await bench.write("infra.patch", patchOf("infra/main.tf"));
  await bench.write("new.patch", patchOf("infra/new.tf"));
  await bench.write("src.patch", patchOf("src/a.txt"));
  await bench.write("sub.patch", patchOf("main.tf"));
  await mkdir(join(bench.project, "fresh"));
  git("init", "-q");
  git("add", "infra", "src");
  git("commit", "-qm", "one");
  return bench;
}

async function decided(bench: Workbench, argv: string[], cwd?: string) {
  const { judgements } = await explainCommand(bench, argv, cwd);
  return judgements?.[0]?.decision;
}

const NAMED: [string[], string?][] = [
  [["git", "apply", "infra.patch"]],
  [["git", "apply", "new.patch"]],
  [["git", "apply", "--directory=infra", "sub.patch"]],
  [["patch", "-p1", "-i", "infra.patch"]],
  [["patch", "-p1", "--input=infra.patch"]],
  [["patch", "-p", "1", "-d", "infra", "-i", "sub.patch"]],
  [["patch", "-p0", "-i", "../sub.patch"], "infra"],
  [["git", "checkout", "--", "infra/main.tf"]],
  [["git", "restore", "infra"]],
  [["git", "rm", "infra/main.tf"]],
  [["cp", "-r", "over/.", "."]],
  [["cp", "-r", "over/infra", "."]],
  [["rm", "infra/main.tf"]],
  [["mv", "infra/main.tf", "x.tf"]],
  [["sed", "-i", "s/a/b/", "infra/main.tf"]],
  [["find", "infra", "-delete"]],
  [["tee", "infra/main.tf"]],
  [["dd", "if=src/a.txt", "of=infra/main.tf"]],
  [["sh", "-c", "echo x > infra/main.tf"]],
];

const IN_REACH: [string[], string?][] = [
  [["find", ".", "-name", "main.tf", "-delete"]],
  [["find", ".", "-delete", "-name", "none"]],
  [["find", ".", "-delete"]],
  [["find", ".", "-name", "*.tf", "-exec", "sed", "-i", "s/a/b/", "{}", "+"]],
  [["env", "find", ".", "-delete"]],
  [["sh", "-c", "cd src; find .. -delete"]],
  [["rm", "-rf", "."]],
  [["chmod", "-R", "a-w", "."]],
  [["mv", ".", "../elsewhere"]],
  [["git", "checkout", "--", "."]],
  [["git", "checkout", "main"]],
  [["git", "clean", "-fdx"]],
  [["git", "clean", "-fdx", "-e.bin"]],
  [["git", "restore", "-sorigin/Stable", "."]],
  [["git", "reset", "--hard"]],
  [["git", "stash"]],
  [["git", "stash", "pop"]],
  [["git", "switch", "other"]],
  [["git", "merge", "other"]],
  [["git", "pull"]],
  [["git", "rebase", "main"]],
  [["git", "apply", "missing.patch"]],
  [["tar", "xf", "o.tar"]],
  [["tar", "-xzf", "o.tgz"]],
  [["unzip", "-o", "o.zip"]],
  [["unzip", "o.zip", "-d../project"]],
  [["cpio", "-i"]],
  [["npm", "test"]],
  [["make"]],
  [["python3", "x.py"]],
  [["sh", "-c", "$x"]],
];

const APART: [string[], string?][] = [
  [["find", ".", "-name", "*.ts", "-delete"]],
  [["find", "src", "-delete"]],
  [["find", ".", "-name", "main.tf"]],
  [["find", ".", "-name", "*.tf", "-exec", "cat", "{}", "+"]],
  [["rm", "-rf", "src"]],
  [["mv", "src", "elsewhere"]],
  [["cp", "-r", "over", "elsewhere"]],
  [["git", "apply", "src.patch"]],
  [["patch", "-p1", "-i", "src.patch"]],
  [["git", "apply", "--stat", "infra.patch"]],
  [["git", "checkout", "--", "src"]],
  [["git", "checkout", "."], "src"],
  [["git", "checkout", "-b", "new"]],
  [["git", "switch", "-c", "new"]],
  [["git", "restore", "src/a.txt"]],
  [["git", "reset"]],
  [["git", "stash", "list"]],
  [["git", "status"]],
  [["git", "add", "-A"]],
  [["git", "commit", "-m", "infra/main.tf"]],
  [["git", "push"]],
  [["git", "log", "-p"]],
  [["tar", "xf", "o.tar", "-C", "fresh"]],
  [["tar", "tf", "o.tar"]],
  [["unzip", "o.zip", "-d", "fresh"]],
  [["unzip", "-l", "o.zip"]],
  [["npm", "--version"]],
  [["sh", "-c", "ls && cat src/a.txt"]],
];

const READING: [string[], string?][] = [
  [["grep", "-rn", "a", "infra"]],
  [["sed", "-n", "1p", "infra/main.tf"]],
  [["sed", "s/a/b/", "infra/network.tf"]],
  [["git", "diff", "infra"]],
  [["git", "diff", "--no-index", "infra", "src"]],
  [["git", "log", "-p", "--", "infra"]],
  [["git", "add", "infra/main.tf"]],
  [["cp", "infra/main.tf", "x.tf"]],
  [["cp", "-r", "infra", "x2"]],
  [["rsync", "-a", "infra", "x3"]],
  [["tar", "cf", "o.tar", "infra"]],
  [["cat", "infra/main.tf"]],
  [["awk", "{print $1}", "infra/main.tf"]],
  [["dd", "if=infra/main.tf", "of=x.tf"]],
  [["sort", "infra/main.tf"]],
  [["sh", "-c", "cat infra/main.tf"]],
  [["ls"], "infra"],
  [["grep", "-n", "a", "main.tf"], "infra"],
];

test.each(NAMED)(
  "a deny for writing refuses what is certain to write: %j in %s",
  async (argv, cwd) => {
    verifies("PERM-15");
    expect(await decided(await repositoryWith([WRITE]), argv, cwd)).toBe("deny");
  },
);

test.each(IN_REACH)(
  "a deny for writing asks where the target is unknown: %j in %s",
  async (argv, cwd) => {
    verifies("PERM-15");
    expect(await decided(await repositoryWith([WRITE]), argv, cwd)).toBe("ask");
  },
);

test.each([...APART, ...READING])(
  "a deny for writing does not hold for %j in %s",
  async (argv, cwd) => {
    verifies("PERM-15");
    expect(await decided(await repositoryWith([WRITE]), argv, cwd)).toBe("allow");
  },
);

test("a rule that is about writing with a file tool holds for commands as well", async () => {
  verifies("PERM-15");
  for (const tool of ["code.write_file", "code.edit_file"]) {
    const bench = await repositoryWith([{ path: "infra/**", tool, decision: "deny" }]);
    expect(await decided(bench, ["rm", "infra/main.tf"])).toBe("deny");
    expect(await decided(bench, ["git", "reset", "--hard"])).toBe("ask");
    expect(await decided(bench, ["cat", "infra/main.tf"])).toBe("allow");
    expect(await decided(bench, ["cp", "infra/main.tf", "x"])).toBe("allow");
  }
});

test("a rule about writing asks for nothing while its path holds nothing", async () => {
  verifies("PERM-15");
  const bench = await repositoryWith([{ ...WRITE, path: "absent/**" }]);
  for (const [argv, cwd] of IN_REACH.filter(
    ([[program]]) => program !== "tar" && program !== "unzip" && program !== "cpio",
  )) {
    expect([argv, await decided(bench, argv, cwd)]).toEqual([argv, "allow"]);
  }
});

test("a rule that spells a command out answers what it may write", async () => {
  verifies("PERM-15", "PERM-16");
  const spelled: PermissionRule = {
    tool: "code.run_command",
    argv: ["npm", "test"],
    decision: "allow",
  };
  const bench = await repositoryWith([WRITE, spelled]);
  expect(await decided(bench, ["npm", "test"])).toBe("allow");
  expect(await decided(bench, ["npm", "run", "other"])).toBe("ask");
});
