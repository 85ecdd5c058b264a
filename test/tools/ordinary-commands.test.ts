// Beside a rule that keeps a directory away (PERM-15), ordinary work continues: what can neither show nor change what is in it is not
// asked about.

import { execFileSync } from "node:child_process";
import { compilePolicy, evaluate, type PermissionRule } from "@soong/core";
import { NO_GRANTS } from "../../packages/core/src/permission/index.ts";
import { resolvePathNow } from "@soong/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { hasProgram } from "../sandbox/world.ts";
import { explainCommand, allowCode, createWorkbench } from "./workbench.ts";

const DENY: PermissionRule = { path: "secrets/**", decision: "deny" };

async function benchWith(rules: readonly PermissionRule[], tracks: "nothing" | "secrets") {
  const bench = await createWorkbench({
    rules: [...allowCode, ...rules],
    session: { resolvePath: (path) => resolvePathNow("/", path) },
  });
  onTestFinished(() => bench.close());
  await bench.write("secrets/db.txt", "the secret\n");
  await bench.write("README.md", "read me\n");
  await bench.write("src/a.ts", "one\n");
  await bench.write("src/below/b.ts", "two\n");
  await bench.write(".gitignore", tracks === "nothing" ? "secrets/\n" : "none\n");
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    execFileSync("git", [...identity, ...args], { cwd: bench.project, stdio: "ignore" });
  };
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  return bench;
}

async function decided(bench: Awaited<ReturnType<typeof benchWith>>, argv: string[], cwd?: string) {
  return (await explainCommand(bench, argv, cwd)).outcome;
}

const HARMLESS: string[][] = [
  "git status",
  "git status -sb",
  "git log",
  "git log --oneline -5",
  "git log -1 --format=%H",
  "git log --oneline -- src",
  "git add -A",
  "git add src/a.ts",
  "git commit -m secrets",
  "git push",
  "git push -u origin main",
  "git fetch --prune",
  "git branch -vv",
  "git tag v1",
  "git checkout -b topic",
  "git switch -c topic",
  "git stash list",
  "git rev-parse HEAD",
  "git remote -v",
  "git config --get user.name",
  "git blame src/a.ts",
  "git diff -- src",
  "git diff HEAD -- src README.md",
  "git log -p -- src",
  "git diff --stat src",
  "git --version",
  "git clean -n",
  "git clean -nd",
  "grep -rn word src",
  "grep -r --include=*.ts word",
  "rg word src",
  "rg -g *.ts word",
  "sed -n 1,5p README.md",
  "ls",
  "ls -la",
  "ls -la src",
  "find . -maxdepth 1",
  "find . -maxdepth 1 -type f",
  "find . -name *.ts",
  "find . -name secrets -prune -o -type f -print",
  "find src -type f",
  "find src -name *.ts -exec grep -n one {} +",
  "du -sh .",
  "npm --version",
  "node --version",
  "make --help",
  "tar czf a.tgz src",
  "tar cf a.tar README.md src/a.ts",
  "mv README.md R.md",
  "mv README.md src",
  "cp README.md R.md",
  "cp -r src elsewhere",
  "rm -r src",
].map((line) => line.split(" "));

/** Git shows and changes what it tracks. */
const ON_TRACKED: string[][] = [
  "git diff",
  "git show HEAD",
  "git log -p",
  "git log --stat",
  "git log -p --follow -- src/a.ts",
  "git diff -- .",
  "git diff -S -- src",
  "git log -p -S -- HEAD",
  "git diff -- :/",
  "git diff -- *.txt",
  "git status -v",
  "git commit -v -m a",
  "git add -p",
  "git ls-files",
  "git checkout main",
  "git stash",
  "git grep secret",
].map((line) => line.split(" "));

const REACHING: string[][] = [
  "git clean -fdx",
  "git clean -ndx",
  "git stash -a",
  "git status -uall",
  "git ls-files -o",
  "git diff --no-index . src",
  "git grep --untracked secret",
  "git apply a.patch",
  "git -c alias.x=!cat x",
  "find .",
  "find . -maxdepth 2",
  "find . -name db.txt",
  "find . -name *.txt -o -name *.ts",
  "find . -depth -name secrets -prune -o -print",
  "find . -type f -exec cat {} +",
  "find src -execdir cat ../{} ;",
  "find . -delete",
  "ls -R",
  "tar czf a.tgz .",
  "tar cf a.tar -T list",
  "cp -r . elsewhere",
  "grep -r x",
  "grep -r src",
  "grep -r -e src",
  "grep -rn --include=*.txt x",
  "rg x",
  "rg src",
  "rg --files",
  "rg -M 100 src",
  "make",
  "npm run --version",
].map((line) => line.split(" "));

/** Not every machine has ripgrep. */
function isInstalled([program]: readonly string[]): boolean {
  return program !== "rg" || hasProgram("rg");
}

describe("beside a rule that denies secrets/**", () => {
  test("what can neither show nor change what is there needs no approval", async () => {
    verifies("PERM-15");
    for (const tracks of ["nothing", "secrets"] as const) {
      const bench = await benchWith([DENY], tracks);
      for (const argv of HARMLESS.filter(isInstalled)) {
        expect([argv.join(" "), await decided(bench, argv)]).toEqual([argv.join(" "), "allow"]);
      }
    }
  });

  test("git asks for what it shows and changes only if it tracks something there", async () => {
    verifies("PERM-15");
    const without = await benchWith([DENY], "nothing");
    const tracking = await benchWith([DENY], "secrets");
    for (const argv of ON_TRACKED) {
      const line = argv.join(" ");
      expect([line, await decided(without, argv)]).toEqual([line, "allow"]);
      expect([line, await decided(tracking, argv)]).toEqual([line, "ask"]);
    }
  });

  test("what may show or change it requires approval, and what names it is denied", async () => {
    verifies("PERM-15");
    const bench = await benchWith([DENY], "nothing");
    for (const argv of REACHING.filter(isInstalled)) {
      expect([argv.join(" "), await decided(bench, argv)]).toEqual([argv.join(" "), "ask"]);
    }
    for (const line of ["ls secrets", "find secrets", "git diff -- secrets", "mv secrets x"]) {
      expect([line, await decided(bench, line.split(" "))]).toEqual([line, "deny"]);
    }
    expect(await decided(bench, ["ls"], "secrets")).toBe("deny");
  });

  test.runIf(hasProgram("rg"))(
    "ripgrep passes hidden files by, unless an option says otherwise",
    async () => {
      verifies("PERM-15");
      const bench = await benchWith([{ path: "**/.env*", decision: "deny" }], "nothing");
      await bench.write("src/.env.local", "KEY=1\n");
      for (const line of ["rg word", "rg --files", "rg word src", "rg -tts word", "rg word -l"]) {
        expect([line, await decided(bench, line.split(" "))]).toEqual([line, "allow"]);
      }
      for (const line of [
        "rg --hidden word",
        "rg -uu word",
        "rg -L word",
        "rg -g .env* word",
        "rg -tsh word",
        "grep -r word src",
      ]) {
        expect([line, await decided(bench, line.split(" "))]).toEqual([line, "ask"]);
      }
      await bench.write(".ignore", "!.env*\n");
      expect(await decided(bench, ["rg", "word"])).toBe("ask");
    },
  );

  test("a pattern that names an entry itself hides its name", async () => {
    verifies("PERM-15");
    const bench = await benchWith([{ path: "secrets", decision: "deny" }], "nothing");
    for (const line of ["ls", "find . -maxdepth 1"]) {
      expect([line, await decided(bench, line.split(" "))]).toEqual([line, "ask"]);
    }
    expect(await decided(bench, ["ls", "src"])).toBe("allow");
  });
});

test("a command that a rule for readonly commands does not allow says why it is not proven", async () => {
  verifies("PERM-17");
  const bench = await createWorkbench({
    rules: [{ tool: "code.run_command", tags: ["readonly"], decision: "allow" }],
  });
  onTestFinished(() => bench.close());
  await bench.write("a.txt", "one\n");
  const refused = await bench.call("code.run_command", { argv: ["sort", "-o", "b.txt", "a.txt"] });
  expect(refused.error?.message).toContain(
    "A rule allows it where it is proven to only read. Not proven to only read: ",
  );
  const built = await bench.call("code.run_command", { argv: ["make"] });
  expect(built.error?.message).toContain("it is proven only with --version.");
  const other = await createWorkbench({ rules: [] });
  onTestFinished(() => other.close());
  const plain = await other.call("code.run_command", { argv: ["sort", "-o", "b.txt", "a.txt"] });
  expect(plain.error?.message).not.toContain("proven");
});

test("a tree that is too large to look through is not called sensitive", async () => {
  verifies("PATH-3");
  const policy = compilePolicy({ roots: { project: "/project", write: ["/project"] } });
  if (!policy.ok) throw new Error("the policy has a problem");
  const { decision, reason } = evaluate(
    policy.policy,
    {
      tool_name: "code.run_command",
      permission: "write",
      tags: ["code"],
      source_kind: "code",
      source_id: "code",
      effects: { read_only: false, concurrency_safe: false, destructive: true, open_world: false },
      resources: [
        {
          kind: "path",
          access: "search",
          path: "/project/huge",
          sensitive: true,
          too_large: true,
          reason: "it has more than 20000 entries",
        },
      ],
      hosts: [],
    },
    NO_GRANTS,
  );
  expect(decision).toBe("ask");
  expect(reason).toContain("too large to look through for sensitive files: it has more than 20000");
  expect(reason).not.toContain("is sensitive");
});
