import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { findExecutable } from "@soong/platform";
import { checkRepository, fileFromElsewhere } from "./harmless-repository.ts";
import { proveReadOnly, type CommandToProve, type ReadOnlyProof } from "./prove-read-only.ts";

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
    expect(kindOf(project)).toBe("harmless");
    expect(kindOf(join(project, "a/b"))).toBe("harmless");
    git("remote", "add", "origin", "git@example.org:x.git");
    git("checkout", "-q", "-b", "feature/x");
    expect(kindOf(project)).toBe("harmless");
  });

  test("is harmless with a detached head, and as a worktree elsewhere", () => {
    verifies("CMD-4");
    git("checkout", "-q", "--detach");
    expect(kindOf(project)).toBe("harmless");
    const worktree = join(ground, `worktree-${count}`);
    git("worktree", "add", "-q", worktree);
    expect(kindOf(worktree)).toBe("harmless");
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
    expect(kindOf(none)).toBe("none");
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
    expect(kindOf(project)).toBe("doubtful");
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

  test("may hide its program in a submodule, with any outer config", () => {
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
    expect(kindOf(project)).toBe("doubtful");
  });

  test("may be a directory that looks like the inside of one", () => {
    verifies("CMD-4");
    const bare = join(project, "bare");
    execFileSync("git", ["init", "-q", "--bare", bare], { env: environment() });
    expect(kindOf(bare)).toBe("doubtful");
    expect(kindOf(join(bare, "objects"))).toBe("doubtful");
    expect(kindOf(project)).toBe("harmless");
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
    expect(kindOf(worktree)).toBe("doubtful");
    expect(kindOf(project)).toBe("harmless");
    rmSync(config);
    expect(kindOf(worktree)).toBe("harmless");
    git("config", "core.fsmonitor", "x");
    expect(kindOf(worktree)).toBe("doubtful");
  });

  test("may send git elsewhere by a .git file, a commondir or a link", () => {
    verifies("CMD-4");
    const evil = join(ground, `evil-${count}`);
    newRepository(evil);
    writeFileSync(join(evil, ".git/config"), "[core]\n\tfsmonitor = x\n");
    const sub = join(project, "sub");
    mkdirSync(sub);
    writeFileSync(join(sub, ".git"), `gitdir: ${evil}/.git\n`);
    expect(kindOf(sub)).toBe("doubtful");
    writeFileSync(join(sub, ".git"), `gitdir: ${project}/.git\n`);
    expect(kindOf(sub)).toBe("harmless");
    writeFileSync(join(sub, ".git"), `gitdir: ${project}/.git\nmore\n`);
    expect(kindOf(sub)).toBe("doubtful");
    rmSync(join(sub, ".git"));
    symlinkSync(join(project, ".git"), join(sub, ".git"));
    expect(kindOf(sub)).toBe("doubtful");
    writeFileSync(join(project, ".git/commondir"), `${evil}/.git\n`);
    expect(kindOf(project)).toBe("doubtful");
  });

  test("is one whose files are not what git would write", () => {
    verifies("CMD-4");
    const files = ["HEAD", "config", "index"].map((name) => join(project, ".git", name));
    for (const file of files) {
      const kept = readFileSync(file);
      rmSync(file);
      symlinkSync(join(ground, "elsewhere"), file);
      expect(kindOf(project)).toBe("doubtful");
      rmSync(file);
      writeFileSync(file, kept);
      expect(kindOf(project)).toBe("harmless");
    }
    writeFileSync(join(project, ".git/HEAD"), "nonsense\n");
    expect(kindOf(project)).toBe("doubtful");
    writeFileSync(join(project, ".git/HEAD"), "ref: refs/heads/x\n");
    expect(kindOf(project)).toBe("harmless");
    writeFileSync(join(project, ".git/sharedindex.0123"), "");
    expect(kindOf(project)).toBe("doubtful");
    rmSync(join(project, ".git/sharedindex.0123"));
    rmSync(join(project, ".git/refs"), { recursive: true });
    expect(kindOf(project)).toBe("doubtful");
  });
});

describe("a repository whose files are those of another place", () => {
  const SECRET = "DB_PASSWORD=hunter2\n";

  test.each([
    "objects/info/alternates",
    "rebase-merge/done",
    "BISECT_START",
    "shallow",
    "packed-refs",
    "info/attributes",
    "info/exclude",
    "refs/heads/other",
    "logs/HEAD",
    "worktrees/x/gitdir",
    "modules/a/b/shallow",
  ])("%s would be printed, as a link and as a second name", (name) => {
    verifies("CMD-4");
    const secret = join(project, ".env");
    const file = join(project, ".git", name);
    for (const link of [symlinkSync, linkSync]) {
      writeFileSync(secret, SECRET);
      mkdirSync(dirname(file), { recursive: true });
      rmSync(file, { force: true });
      link(secret, file);
      const checked = checkRepository(project);
      expect(checked.kind === "doubtful" && checked.why).toContain(JSON.stringify(file));
    }
  });

  test("a directory of it may be a link, and its objects may be elsewhere", () => {
    verifies("CMD-4");
    const logs = join(project, ".git/logs");
    renameSync(logs, join(project, "logs"));
    symlinkSync("../logs", logs);
    expect(kindOf(project)).toBe("doubtful");
    rmSync(logs);
    expect(kindOf(project)).toBe("harmless");
    writeFileSync(join(project, ".git/objects/info/alternates"), "../x\n");
    expect(kindOf(project)).toBe("doubtful");
  });

  test("hooks are not printed, and a clone shares its objects with the original", () => {
    verifies("CMD-4");
    mkdirSync(join(project, ".git/hooks"), { recursive: true });
    symlinkSync("../../a.txt", join(project, ".git/hooks/pre-commit"));
    expect(kindOf(project)).toBe("harmless");
    const clone = join(ground, `clone-${count}`);
    git("clone", "-q", "--local", project, clone);
    expect(kindOf(clone)).toBe("harmless");
  });

  test("more files than can be looked at are not taken for harmless", () => {
    verifies("CMD-4");
    const refs = join(project, ".git/refs/tags");
    for (let at = 0; at < 40; at += 1) writeFileSync(join(refs, `t${at}`), "");
    const files = { git_dir: join(project, ".git"), common_dir: join(project, ".git") };
    expect(fileFromElsewhere(files)).toBeUndefined();
    expect(fileFromElsewhere(files, 30)).toContain("more than 30 entries");
  });
});

describe("what is proven is what runs", () => {
  test("a proven command shows what git shows by default", () => {
    verifies("CMD-7");
    mkdirSync(join(project, "a/b"), { recursive: true });
    writeFileSync(join(project, "a/b/new.txt"), "new\n");
    const worktree = join(ground, `worktree-${count}`);
    git("worktree", "add", "-q", worktree);
    writeFileSync(join(worktree, "a.txt"), "changed\n");
    const commands = [
      ["status", "--short", "--branch"],
      ["diff", "--stat"],
      ["log", "--oneline"],
      ["rev-parse", "--show-toplevel", "--show-prefix", "--is-inside-work-tree"],
      ["branch", "-a"],
      ["ls-files"],
      ["worktree", "list"],
    ];
    for (const cwd of [project, join(project, "a/b"), worktree]) {
      for (const args of commands) {
        const plain = execFileSync("git", args, { cwd, env: environment() });
        expect([args, runProven(cwd, args)]).toEqual([args, plain.toString()]);
      }
    }
  });

  test("a .git file with a carriage return leads git elsewhere than its letters say", () => {
    verifies("CMD-7");
    const { evil, sub } = twoRepositories();
    cpSync(join(project, ".git"), join(evil.folder, ".git\r"), { recursive: true });
    writeFileSync(join(sub, ".git"), `gitdir: ${evil.folder}/.git\r\n`);
    expectToRunPlainly(sub, evil);
    expect(runProven(sub, ["status"])).toBeUndefined();
    expect(evil.ran()).toBe(false);
  });

  test.each(["gitdir", "commondir"])("%s through a link is followed as the system does", (by) => {
    verifies("CMD-7");
    const { evil, sub } = twoRepositories();
    mkdirSync(join(evil.folder, "deep"));
    renameSync(join(evil.folder, ".git"), join(evil.folder, "realgit"));
    const base = by === "gitdir" ? sub : join(sub, ".git");
    mkdirSync(base, { recursive: true });
    symlinkSync(join(evil.folder, "deep"), join(base, "link"));
    // By its letters it is this one.
    cpSync(join(project, ".git"), join(base, "realgit"), { recursive: true });
    if (by === "gitdir") writeFileSync(join(sub, ".git"), "gitdir: link/../realgit\n");
    else {
      writeFileSync(join(base, "commondir"), "link/../realgit\n");
      writeFileSync(join(base, "HEAD"), "ref: refs/heads/master\n");
    }
    expectToRunPlainly(sub, evil);
    expect(runProven(sub, ["status"])).toBeUndefined();
    expect(evil.ran()).toBe(false);
  });

  test("a name that is not UTF-8 is another name to git", () => {
    verifies("CMD-7");
    const { evil, sub } = twoRepositories();
    const odd = Buffer.concat([Buffer.from(`${evil.folder}/od`), Buffer.from([0xff])]);
    renameSync(join(evil.folder, ".git"), odd);
    cpSync(join(project, ".git"), join(evil.folder, "od\uFFFD"), { recursive: true });
    writeFileSync(join(sub, ".git"), Buffer.concat([Buffer.from("gitdir: "), odd]));
    expectToRunPlainly(sub, evil);
    expect(runProven(sub, ["status"])).toBeUndefined();
    expect(evil.ran()).toBe(false);
  });

  test("a repository git would pass by does not lead it to the one above", () => {
    verifies("CMD-7");
    const { evil } = twoRepositories();
    const inner = join(evil.folder, "inner");
    newRepository(inner);
    for (const name of ["objects", "refs"]) {
      chmodSync(join(inner, ".git", name), 0);
      try {
        runProven(inner, ["status"]);
      } catch {
        // Git refuses what it was handed, and looks for nothing else.
      } finally {
        chmodSync(join(inner, ".git", name), 0o755);
      }
      expect(evil.ran()).toBe(false);
    }
    expect(kindOf(inner)).toBe("harmless");
  });

  test("settings written after the proof do not start a monitor, a hook or a pager", () => {
    verifies("CMD-7");
    const evil = script("evil");
    const proof = prove("git", "status");
    git("config", "core.fsmonitor", evil.path);
    git("config", "core.pager", evil.path);
    mkdirSync(join(project, ".git/hooks"), { recursive: true });
    cpSync(evil.path, join(project, ".git/hooks/post-index-change"));
    execFileSync(proof?.executable ?? "", ["status"], {
      cwd: project,
      env: { ...environment(), ...proof?.env },
    });
    expect(evil.ran()).toBe(false);
  });

  test.each(["HOME", "XDG_CONFIG_HOME"])("a user's config in %s is not read by git", (name) => {
    verifies("CMD-7");
    const evil = script("evil");
    const file = join(project, name === "HOME" ? ".gitconfig" : "git/config");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      `[filter "x"]\n\tclean = ${evil.path}\n[core]\n\tfsmonitor = ${evil.path}\n`,
    );
    writeFileSync(join(project, ".gitattributes"), "* filter=x\n");
    appendFileSync(join(project, "a.txt"), "more\n");
    const env = { [name]: project };
    execFileSync("git", ["status"], { cwd: project, env: { ...environment(), ...env } });
    expect(evil.ran()).toBe(true);
    evil.forget();
    expect(runProven(project, ["status", "--short"], env)).toContain("M a.txt");
    expect(evil.ran()).toBe(false);
  });

  test("settings of the user that only change what is shown still hold", () => {
    verifies("CMD-7");
    writeFileSync(join(project, "ignored-by-me"), "");
    writeFileSync(join(home, ".my-ignore"), "ignored-by-me\n");
    writeFileSync(join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/.my-ignore\n");
    try {
      expect(runProven(project, ["status", "--short"])).toBe("");
    } finally {
      rmSync(join(home, ".gitconfig"));
    }
    expect(runProven(project, ["status", "--short"])).toContain("ignored-by-me");
  });
});

/** A repository that runs a program on a mere status, and a directory in the project. */
function twoRepositories(): { evil: Evil; sub: string } {
  const folder = join(ground, `evil-${count}`);
  newRepository(folder);
  const traced = script("trace");
  execFileSync("git", ["config", "core.fsmonitor", traced.path], {
    cwd: folder,
    env: environment(),
  });
  const sub = join(project, "sub");
  mkdirSync(sub);
  return { evil: { ...traced, folder }, sub };
}

type Evil = ReturnType<typeof script> & { readonly folder: string };

function expectToRunPlainly(cwd: string, evil: Evil): void {
  execFileSync("git", ["status"], { cwd, env: environment(), stdio: "ignore" });
  expect(evil.ran()).toBe(true);
  evil.forget();
}

/** Undefined where it is not proven. */
function runProven(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): string | undefined {
  const proof = proveIn(cwd, ["git", ...args], env);
  if (proof === undefined) return undefined;
  return execFileSync(proof.executable, args, {
    cwd,
    env: { ...environment(), ...env, ...proof.env },
    stdio: ["ignore", "pipe", "ignore"],
  }).toString();
}

function kindOf(cwd: string): string {
  return checkRepository(cwd).kind;
}

type Proven = Extract<ReadOnlyProof, { read_only: true }>;

/** A copy of the first one: git is started five times for that, and not for each test. */
function newRepository(folder: string): void {
  const first = join(ground, "first");
  if (!existsSync(first)) makeRepository(first);
  cpSync(first, folder, { recursive: true, preserveTimestamps: true });
}

function makeRepository(folder: string): void {
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

function prove(...argv: string[]): Proven | undefined {
  return proveIn(project, argv);
}

/** Wherever git is installed on this machine is the system here. */
function proveIn(
  cwd: string,
  argv: readonly string[],
  env: Record<string, string> = {},
): Proven | undefined {
  const places: CommandToProve["places"] = {
    roots: { project: cwd, write: [] },
    sensitiveBy: () => undefined,
    restrictedGlobs: () => [],
  };
  const { found = "/", resolved = "/" } = findExecutable("git", { path, cwd }) ?? {};
  const systemDirectories = [dirname(found), dirname(resolved)];
  const proof = proveReadOnly({
    argv,
    cwd,
    env: { ...environment(), ...env },
    places,
    systemDirectories,
  });
  return proof.read_only ? proof : undefined;
}

/** A program that leaves a trace. */
function script(name: string): { path: string; ran: () => boolean; forget: () => void } {
  const place = join(ground, `${name}-${count}`);
  writeFileSync(place, `#!/bin/sh\ntouch ${place}.ran\ncat\n`, { mode: 0o755 });
  expect(statSync(place).mode & 0o111).not.toBe(0);
  const trace = `${place}.ran`;
  return { path: place, ran: () => existsSync(trace), forget: () => rmSync(trace) };
}
