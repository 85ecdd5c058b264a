import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Places } from "@soong/core";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { findExecutable } from "@soong/platform";
import { repositoryOf } from "./harmless-repository.ts";
import { proveReadOnly, type ReadOnlyProof } from "./prove-read-only.ts";

const ground = realpathSync(mkdtempSync(join(tmpdir(), "soong-git-")));
const home = join(ground, "home");
const path = process.env["PATH"] ?? "";
let count = 0;
let project = "";
afterAll(() => rmSync(ground, { recursive: true, force: true }));

beforeEach(() => {
  count += 1;
  project = join(ground, `project-${count}`);
  mkdirSync(home, { recursive: true });
  newRepository(project);
});

describe("an ordinary repository", () => {
  test("is harmless, also from a directory below", () => {
    verifies("CMD-4");
    mkdirSync(join(project, "a/b"), { recursive: true });
    expect(repositoryOf(project)).toBe("harmless");
    expect(repositoryOf(join(project, "a/b"))).toBe("harmless");
    git("remote", "add", "origin", "git@example.org:x.git");
    git("checkout", "-q", "-b", "feature/x");
    expect(repositoryOf(project)).toBe("harmless");
  });

  test("is harmless with a detached head, and as a worktree elsewhere", () => {
    verifies("CMD-4");
    git("checkout", "-q", "--detach");
    expect(repositoryOf(project)).toBe("harmless");
    const worktree = join(ground, `worktree-${count}`);
    git("worktree", "add", "-q", worktree);
    expect(repositoryOf(worktree)).toBe("harmless");
  });

  test("is left exactly as it was by what is proven read-only", () => {
    verifies("CMD-4");
    const index = join(project, ".git/index");
    const commands = [["status"], ["diff", "--stat"], ["ls-files", "-m"], ["describe", "--always"]];
    for (const args of commands) {
      // Touched files make git want to note their new times in the index.
      utimesSync(join(project, "a.txt"), new Date(1_000_000), new Date(1_000_000 + count));
      const before = readFileSync(index);
      const proof = prove("git", ...args);
      expect(proof).toBeDefined();
      execFileSync("git", args, { cwd: project, env: { ...environment(), ...proof?.env } });
      expect(readFileSync(index).equals(before)).toBe(true);
    }
  });

  test("does not exist where there is none", () => {
    verifies("CMD-4");
    const none = join(ground, `none-${count}`);
    mkdirSync(none);
    expect(repositoryOf(none)).toBe("none");
    expect(prove("git", "--version", none)).toBeUndefined();
    expect(proveIn(none, ["git", "--version"])).toBeDefined();
    expect(proveIn(none, ["git", "status"])).toBeUndefined();
    expect(proveIn(none, ["git", "diff", "--stat", "a", "b"])).toBeUndefined();
  });
});

describe("a hostile repository", () => {
  test("would run its program on a mere status, and is not proven", () => {
    verifies("CMD-4");
    const evil = script("evil");
    git("config", "core.fsmonitor", evil.path);
    execFileSync("git", ["status"], { cwd: project, env: environment() });
    expect(evil.ran()).toBe(true);
    expect(repositoryOf(project)).toBe("doubtful");
    expect(prove("git", "status")).toBeUndefined();
  });

  test("may hide its program in a filter that attributes choose", () => {
    verifies("CMD-4");
    const evil = script("evil");
    git("config", "filter.x.clean", evil.path);
    writeFileSync(join(project, ".gitattributes"), "* filter=x\n");
    appendFileSync(join(project, "a.txt"), "more\n");
    execFileSync("git", ["diff", "--stat"], { cwd: project, env: environment() });
    expect(evil.ran()).toBe(true);
    expect(prove("git", "diff", "--stat")).toBeUndefined();
  });

  test("may hide its program in a submodule, whatever the outer config says", () => {
    verifies("CMD-4");
    const inner = join(project, "inner");
    newRepository(inner);
    git("add", "inner");
    const evil = script("evil");
    execFileSync("git", ["config", "core.fsmonitor", evil.path], {
      cwd: inner,
      env: environment(),
    });
    execFileSync("git", ["status"], { cwd: project, env: environment() });
    expect(evil.ran()).toBe(true);
    expect(repositoryOf(project)).toBe("doubtful");
  });

  test("may be a directory that looks like the inside of one", () => {
    verifies("CMD-4");
    const bare = join(project, "bare");
    execFileSync("git", ["init", "-q", "--bare", bare], { env: environment() });
    expect(repositoryOf(bare)).toBe("doubtful");
    expect(repositoryOf(join(bare, "objects"))).toBe("doubtful");
    expect(repositoryOf(project)).toBe("harmless");
  });

  test("may keep its config in a worktree's own file or in the common directory", () => {
    verifies("CMD-4");
    const worktree = join(ground, `worktree-${count}`);
    git("worktree", "add", "-q", worktree);
    const own = execFileSync("git", ["rev-parse", "--git-dir"], {
      cwd: worktree,
      env: environment(),
    });
    const config = join(own.toString().trim(), "config.worktree");
    writeFileSync(config, "[core]\n\tfsmonitor = x\n");
    expect(repositoryOf(worktree)).toBe("doubtful");
    expect(repositoryOf(project)).toBe("harmless");
    rmSync(config);
    expect(repositoryOf(worktree)).toBe("harmless");
    git("config", "core.fsmonitor", "x");
    expect(repositoryOf(worktree)).toBe("doubtful");
  });

  test("may send git elsewhere by a .git file, a commondir or a link", () => {
    verifies("CMD-4");
    const evil = join(ground, `evil-${count}`);
    newRepository(evil);
    writeFileSync(join(evil, ".git/config"), "[core]\n\tfsmonitor = x\n");
    const sub = join(project, "sub");
    mkdirSync(sub);
    writeFileSync(join(sub, ".git"), `gitdir: ${evil}/.git\n`);
    expect(repositoryOf(sub)).toBe("doubtful");
    writeFileSync(join(sub, ".git"), `gitdir: ${project}/.git\n`);
    expect(repositoryOf(sub)).toBe("harmless");
    writeFileSync(join(sub, ".git"), `gitdir: ${project}/.git\nmore\n`);
    expect(repositoryOf(sub)).toBe("doubtful");
    rmSync(join(sub, ".git"));
    symlinkSync(join(project, ".git"), join(sub, ".git"));
    expect(repositoryOf(sub)).toBe("doubtful");
    writeFileSync(join(project, ".git/commondir"), `${evil}/.git\n`);
    expect(repositoryOf(project)).toBe("doubtful");
  });

  test("is one whose files are not what git would write", () => {
    verifies("CMD-4");
    const files = ["HEAD", "config", "index"].map((name) => join(project, ".git", name));
    for (const file of files) {
      const kept = readFileSync(file);
      rmSync(file);
      symlinkSync(join(ground, "elsewhere"), file);
      expect(repositoryOf(project)).toBe("doubtful");
      rmSync(file);
      writeFileSync(file, kept);
      expect(repositoryOf(project)).toBe("harmless");
    }
    writeFileSync(join(project, ".git/HEAD"), "nonsense\n");
    expect(repositoryOf(project)).toBe("doubtful");
    writeFileSync(join(project, ".git/HEAD"), "ref: refs/heads/x\n");
    expect(repositoryOf(project)).toBe("harmless");
    writeFileSync(join(project, ".git/sharedindex.0123"), "");
    expect(repositoryOf(project)).toBe("doubtful");
    rmSync(join(project, ".git/sharedindex.0123"));
    rmSync(join(project, ".git/refs"), { recursive: true });
    expect(repositoryOf(project)).toBe("doubtful");
  });

  test("is one inside the project whose user config is there as well", () => {
    verifies("CMD-4");
    expect(proveIn(project, ["git", "status"], { HOME: project })).toBeUndefined();
    expect(
      proveIn(project, ["git", "status"], { XDG_CONFIG_HOME: join(project, "x") }),
    ).toBeUndefined();
    const linked = join(ground, `linked-${count}`);
    mkdirSync(linked);
    symlinkSync(join(project, "a.txt"), join(linked, ".gitconfig"));
    expect(proveIn(project, ["git", "status"], { HOME: linked })).toBeUndefined();
    expect(proveIn(project, ["git", "status"])).toBeDefined();
  });
});

function newRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.txt"), "text\n");
  const run = (...args: string[]) => execFileSync("git", args, { cwd: folder, env: environment() });
  run("init", "-q");
  run("config", "user.name", "Some One");
  run("config", "user.email", "some@one.org");
  run("add", "a.txt");
  run("commit", "-q", "-m", "first");
}

function git(...args: string[]): void {
  execFileSync("git", args, { cwd: project, env: environment(), stdio: "ignore" });
}

function environment(): Record<string, string> {
  return { PATH: path, HOME: home };
}

function prove(...argv: string[]): ReadOnlyProof | undefined {
  return proveIn(project, argv);
}

/** Wherever git is installed on this machine is the system here. */
function proveIn(
  cwd: string,
  argv: readonly string[],
  env: Record<string, string> = {},
): ReadOnlyProof | undefined {
  const places: Pick<Places, "roots" | "sensitiveBy"> = {
    roots: { project: cwd, write: [] },
    sensitiveBy: () => undefined,
  };
  const { found = "/", resolved = "/" } = findExecutable("git", { path, cwd }) ?? {};
  const systemDirectories = [dirname(found), dirname(resolved)];
  return proveReadOnly({ argv, cwd, env: { ...environment(), ...env }, places, systemDirectories });
}

/** A program that leaves a trace. */
function script(name: string): { path: string; ran: () => boolean } {
  const place = join(ground, `${name}-${count}`);
  writeFileSync(place, `#!/bin/sh\ntouch ${place}.ran\ncat\n`, { mode: 0o755 });
  expect(statSync(place).mode & 0o111).not.toBe(0);
  return { path: place, ran: () => existsSync(`${place}.ran`) };
}
