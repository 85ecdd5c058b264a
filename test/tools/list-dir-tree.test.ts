// What code.list_dir lists of a real directory (CODE-2): types, order, bounds, what git ignores.

import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { asOrdinaryUser } from "./path-ordinary-user.ts";
import { openStage, textOf, type Stage } from "./search-stage.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

afterEach(() => stage.close());

interface Listing {
  entries: { path: string; type: string; size?: number; target?: string }[];
  truncated: boolean;
  ignored_left_out: number;
  unreadable_directories: number;
}

async function list(input: object = {}): Promise<Listing & { text: string }> {
  const result = await stage.call("code.list_dir", input);
  expect(result.status, result.summary).toBe("succeeded");
  return { ...(result.data as unknown as Listing), text: textOf(result) };
}

async function paths(input: object): Promise<string[]> {
  return (await list(input)).entries.map(({ path }) => path);
}

describe("a listing", () => {
  test("distinguishes every type, with the size of files and the target of links", async () => {
    verifies("CODE-2");
    stage.plant({ "project/file.txt": "12345", "project/dir/inside": "" });
    symlinkSync("file.txt", join(stage.project, "good"));
    symlinkSync("/gone", join(stage.project, "dangling"));
    symlinkSync("dir", join(stage.project, "to-dir"));
    execFileSync("mkfifo", [join(stage.project, "pipe")]);
    const server = createServer().listen(join(stage.project, "sock"));
    try {
      await new Promise((resolve) => {
        server.once("listening", resolve);
      });
      const listing = await list();
      expect(listing.entries).toEqual([
        { path: "dangling", type: "symlink", target: "/gone" },
        { path: "dir", type: "directory" },
        { path: "file.txt", type: "file", size: 5 },
        { path: "good", type: "symlink", target: "file.txt" },
        { path: "pipe", type: "fifo" },
        { path: "sock", type: "socket" },
        { path: "to-dir", type: "symlink", target: "dir" },
      ]);
      expect(listing.text.split("\n")).toEqual([
        "l dangling -> /gone",
        "d dir/",
        "f 5 file.txt",
        "l good -> file.txt",
        "p pipe",
        "s sock",
        "l to-dir -> dir",
      ]);
      // A link to a directory is not walked, nor a circle of them.
      symlinkSync("..", join(stage.project, "dir", "up"));
      expect(await paths({ recursive: true, glob: "*inside" })).toEqual(["dir/inside"]);
    } finally {
      server.close();
    }
  });

  test("of a device names it as one", async () => {
    verifies("CODE-2");
    const result = await stage.call("code.list_dir", { path: "/dev", glob: "null" });
    expect(result.data).toMatchObject({ entries: [{ path: "null", type: "device" }] });
  });

  test("is in the order of bytes, what is in a directory right after it", async () => {
    verifies("CODE-2");
    stage.plant({
      "project/a/z": "",
      "project/a-b": "",
      "project/B": "",
      "project/é": "",
      "project/\uffee": "",
      "project/😀": "",
      "project/a.c": "",
    });
    const order = ["B", "a", "a/z", "a-b", "a.c", "é", "\uffee", "😀"];
    expect(await paths({ recursive: true })).toEqual(order);
    expect(await paths({ recursive: true })).toEqual(order);
  });

  test("stops at the limit, says so, and how to get more", async () => {
    verifies("CODE-2");
    stage.plant(Object.fromEntries(["a", "b", "c"].map((name) => [`project/${name}`, ""])));
    const cut = await list({ limit: 2 });
    expect(cut.entries.map(({ path }) => path)).toEqual(["a", "b"]);
    expect(cut.truncated).toBe(true);
    expect(cut.text).toMatch(/2 entries, and more.*Raise limit/);
    const whole = await list({ limit: 3 });
    expect(whole.truncated).toBe(false);
    expect(whole.text).not.toContain("Raise limit");
  });

  test("of nothing says that there is nothing", async () => {
    verifies("CODE-2");
    expect((await list()).text).toMatch(/^\(0 entries in /);
  });

  test("takes a glob about names or about paths", async () => {
    verifies("CODE-2");
    stage.plant({
      "project/a.ts": "",
      "project/src/b.ts": "",
      "project/src/c.js": "",
      "project/out/d.ts": "",
    });
    expect(await paths({ recursive: true, glob: "*.ts" })).toEqual([
      "a.ts",
      "out/d.ts",
      "src/b.ts",
    ]);
    expect(await paths({ recursive: true, glob: "src/**" })).toEqual(["src/b.ts", "src/c.js"]);
    expect(await paths({ recursive: true, glob: "!src" })).toEqual(["a.ts", "out", "out/d.ts"]);
    expect(await paths({ glob: "*.{js,ts}" })).toEqual(["a.ts"]);
    expect(await paths({ glob: "**/*.ts" })).toEqual(["a.ts", "out/d.ts", "src/b.ts"]);
    const shallow = await list({ glob: "src/*.ts", recursive: false });
    expect(shallow.text).toContain('"recursive": true');
    const refused = await stage.call("code.list_dir", { glob: "{a" });
    expect(refused.error).toMatchObject({ code: "invalid_glob", recovery: "change_arguments" });
  });

  test("finds files by name, the newest first, under the name other agents have for it", async () => {
    verifies("CODE-2");
    stage.plant({
      "project/a.test.ts": "",
      "project/src/b.test.ts": "",
      "project/src/c.test.ts": "",
    });
    const touch = (path: string, at: number) => utimesSync(join(stage.project, path), at, at);
    touch("a.test.ts", 2_000);
    touch("src/b.test.ts", 3_000);
    touch("src/c.test.ts", 1_000);
    const newest = { glob: "**/*.test.ts", sort: "modified" };
    expect(await paths(newest)).toEqual(["src/b.test.ts", "a.test.ts", "src/c.test.ts"]);
    const cut = await stage.call("glob", { ...newest, limit: 1 });
    expect(cut.data).toMatchObject({ truncated: true, entries: [{ path: "src/b.test.ts" }] });
  });

  test("leaves dotted names out only when asked to", async () => {
    verifies("CODE-2");
    stage.plant({ "project/.hidden/x": "", "project/y": "" });
    expect(await paths({ recursive: true })).toEqual([".hidden", ".hidden/x", "y"]);
    expect(await paths({ recursive: true, hidden: false })).toEqual(["y"]);
    expect(await paths({ hidden: false })).toEqual(["y"]);
  });

  test("shows names with line breaks on one line, and names that are not UTF-8", async () => {
    verifies("CODE-2");
    stage.plant({ "project/two\nlines": "", "project/ blank": "" });
    const odd = Buffer.concat([Buffer.from(`${stage.project}/caf`), Buffer.from([0xe9])]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from("/in")]), "123");
    const listing = await list({ recursive: true });
    expect(listing.entries).toEqual([
      { path: " blank", type: "file", size: 0 },
      { path: "caf\ufffd", type: "directory" },
      { path: "caf\ufffd/in", type: "file", size: 3 },
      { path: "two\nlines", type: "file", size: 0 },
    ]);
    expect(listing.text.split("\n").slice(0, 4)).toEqual([
      'f 0 " blank"',
      "d caf\ufffd/",
      "f 3 caf\ufffd/in",
      'f 0 "two\\nlines"',
    ]);
    expect(listing.text).toContain("not UTF-8");
  });

  test("counts directories that cannot be read and lists the rest", async () => {
    verifies("CODE-2");
    stage.plant({ "project/open/x": "", "project/shut/y": "" });
    execFileSync("chmod", ["755", stage.base]);
    execFileSync("chmod", ["000", join(stage.project, "shut")]);
    const listing = await asOrdinaryUser(() => list({ recursive: true }));
    expect(listing.entries.map(({ path }) => path)).toEqual(["open", "open/x", "shut"]);
    expect(listing.unreadable_directories).toBe(1);
    expect(listing.text).toContain("could not be read: 1");
    execFileSync("chmod", ["755", join(stage.project, "shut")]);
  });

  test.each([
    ["gone", "file_not_found"],
    ["file", "not_a_directory"],
    ["file/below", "file_not_found"],
    ["pipe", "not_a_regular_file"],
    ["a\0b", "invalid_path"],
  ])("of %j ends in %s", async (path, code) => {
    verifies("CODE-2");
    stage.plant({ "project/file": "" });
    execFileSync("mkfifo", [join(stage.project, "pipe")]);
    const result = await stage.call("code.list_dir", { path });
    expect(result.status).toBe("failed");
    expect(result.error?.code).toBe(code);
    expect(result.error?.message).toMatch(/\. ./);
  });

  test("takes a directory with very many files", async () => {
    verifies("CODE-2");
    const count = process.env.SOONG_TEST_FULL === "1" ? 100_000 : 5000;
    for (let i = 0; i < count; i += 1) writeFileSync(join(stage.project, `f${i}`), "");
    const listing = await list({ limit: 1000 });
    expect(listing.entries).toHaveLength(1000);
    expect(listing.truncated).toBe(true);
    expect(listing.entries.slice(0, 3).map(({ path }) => path)).toEqual(["f0", "f1", "f10"]);
    const names = await paths({ limit: 1000 });
    expect(names).toEqual(names.toSorted());
  });

  test("ends early when it is aborted", async () => {
    verifies("CODE-2");
    for (let i = 0; i < 300; i += 1) stage.plant({ [`project/d${i}/f`]: "" });
    const running = stage.call("code.list_dir", { recursive: true, limit: 50_000 });
    await stage.run.abort("enough");
    expect((await running).status).not.toBe("succeeded");
  });
});

describe("a recursive listing", () => {
  test("omits what git would, in nested files, with negation and from above", async () => {
    verifies("CODE-2");
    stage.plant({
      "project/.git/info/exclude": "private\n!a.log\nkeep.log\n",
      "project/.git/HEAD": "ref: x",
      "project/.gitignore": "*.log\n!keep.log\nnode_modules/\n/top\n",
      "project/a.log": "",
      "project/keep.log": "",
      "project/private": "",
      "project/node_modules/x/y": "",
      "project/top": "",
      "project/sub/top": "",
      "project/sub/.gitignore": "*.txt\n!a.log\n",
      "project/sub/a.log": "",
      "project/sub/b.log": "",
      "project/sub/c.txt": "",
      "project/d.txt": "",
    });
    const kept = [
      ".git",
      ".gitignore",
      "d.txt",
      "keep.log",
      "sub",
      "sub/.gitignore",
      "sub/a.log",
      "sub/top",
    ];
    const listing = await list({ recursive: true });
    expect(listing.entries.map(({ path }) => path)).toEqual(kept);
    expect(listing.ignored_left_out).toBe(6);
    expect(listing.text).toContain('6 omitted by .gitignore; "ignored": true');
    const sub = await paths({ path: "sub", recursive: true });
    expect(sub).toEqual([".gitignore", "a.log", "top"]);
    const all = await paths({ recursive: true, ignored: true });
    expect(all).toContain("node_modules/x/y");
    expect(all.filter((path) => path.startsWith(".git/"))).toEqual([]);
    expect(await paths({ path: "sub" })).toContain("b.log");
  });

  test("lists what git lists", async () => {
    verifies("CODE-2");
    stage.plant({
      "project/.gitignore": "/x\nb/**/c\n*.o\n!k.o\n[0-9]*\ntmp/\n\\!odd\na/*\n!a/keep\n",
      "project/a/keep/f": "",
      "project/a/drop/f": "",
      "project/b/c": "",
      "project/b/d/e/c": "",
      "project/b/d/e/f": "",
      "project/x/y": "",
      "project/z/x": "",
      "project/!odd": "",
      "project/1st": "",
      "project/k.o": "",
      "project/l.o": "",
      "project/tmp": "",
      "project/z/tmp/f": "",
      "project/tmp2/.gitignore": "*\n!.gitignore\n",
      "project/tmp2/f": "",
    });
    const git = (...argv: string[]): string =>
      execFileSync("git", ["-c", "core.excludesFile=/dev/null", ...argv], {
        cwd: stage.project,
        encoding: "utf8",
        env: { PATH: process.env.PATH ?? "", GIT_CONFIG_NOSYSTEM: "1", HOME: stage.base },
      });
    git("init", "--quiet");
    const theirs = git("ls-files", "--others", "--exclude-standard", "-z").split("\0").slice(0, -1);
    const { entries } = await list({ recursive: true });
    const ours = entries.filter(({ type }) => type === "file").map(({ path }) => path);
    expect(ours.toSorted()).toEqual(theirs.toSorted());
    expect(ours).toContain("a/keep/f");
  });

  test("honours ignore files outside any repository, but none above the directory", async () => {
    verifies("CODE-2");
    stage.plant({
      ".gitignore": "x\n",
      "project/.gitignore": "y\n",
      "project/x": "",
      "project/s/y": "",
    });
    expect(await paths({ recursive: true })).toEqual([".gitignore", "s", "x"]);
  });

  test("gives a repository inside another one rules of its own", async () => {
    verifies("CODE-2");
    stage.plant({
      "project/.git/HEAD": "",
      "project/.gitignore": "x\n",
      "project/inner/.git/info/exclude": "y\n",
      "project/inner/x": "",
      "project/inner/y": "",
    });
    expect(await paths({ recursive: true, glob: "[xy]" })).toEqual(["inner/x"]);
    // A linked worktree has a file that leads to the repository it belongs to.
    stage.plant({
      "project/tree/.git": `gitdir: ${realpathSync(stage.project)}/.git/worktrees/tree\n`,
      "project/.git/worktrees/tree/commondir": "../..\n",
      "project/.git/info/exclude": "z\n",
      "project/tree/x": "",
      "project/tree/z": "",
    });
    expect(await paths({ recursive: true, glob: "[xyz]" })).toEqual(["inner/x", "tree/x"]);
  });

  test("does not hang on an ignore file that is a pipe, nor run away with a hostile rule", async () => {
    verifies("CODE-2");
    stage.plant({
      "project/a/f": "",
      "project/b/.gitignore": `${"*a".repeat(60)}*b\n`,
      ["project/b/" + "a".repeat(200)]: "",
    });
    execFileSync("mkfifo", [join(stage.project, "a", ".gitignore")]);
    expect(await paths({ recursive: true, glob: "f" })).toEqual(["a/f"]);
  });
});
