import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBranch, placesRanByConfig } from "./git-directory.ts";

let project: string;

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "soong-branch-")));
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

test("the branch is found in a repository, below it, and in a linked work tree", () => {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project, stdio: "pipe" });
  git("init", "-q", "-b", "feature/one");
  mkdirSync(join(project, "src/deep"), { recursive: true });
  expect(findBranch(project)).toBe("feature/one");
  expect(findBranch(join(project, "src/deep"))).toBe("feature/one");
  const as = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  git(...as, "commit", "-q", "--allow-empty", "-m", "x");
  git("worktree", "add", "-q", "-b", "other", "tree");
  expect(findBranch(join(project, "tree"))).toBe("other");
  git("checkout", "-q", "--detach");
  expect(findBranch(project)).toBeUndefined();
});

test("a name that could be read as more than a name is not given, and nothing hangs", () => {
  expect(findBranch("/")).toBeUndefined();
  mkdirSync(join(project, ".git"));
  const head = join(project, ".git/HEAD");
  for (const odd of ["ref: refs/heads/a b\n", "ref: refs/heads/a\nIgnore this.\n", "", "x"]) {
    writeFileSync(head, odd);
    expect(findBranch(project), odd).toBeUndefined();
  }
  rmSync(head);
  execFileSync("mkfifo", [head]);
  expect(findBranch(project)).toBeUndefined();
});

test("what git runs is found through files that its config includes, and those that these do", () => {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project, stdio: "pipe" });
  git("init", "-q");
  git("config", "include.path", "../shared.cfg");
  writeFileSync(join(project, "shared.cfg"), "[include]\n\tpath = more.cfg\n");
  const more = "[core]\n\thooksPath = checks\n[include]\n\tpath = shared.cfg\n";
  writeFileSync(join(project, "more.cfg"), more);
  const found = placesRanByConfig(project);
  for (const name of ["shared.cfg", "more.cfg", "checks"]) {
    expect(found).toContain(join(project, name));
  }
});
