// The examples of examples/tools, copied to a home and called through the kernel.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createPlaces,
  problemsIn,
  startDeclaredRun,
  textOf,
  type Places,
} from "./declarative-world.ts";

const EXAMPLES = join("examples", "tools");

let places: Places;
beforeEach(() => {
  places = createPlaces();
  for (const name of readdirSync(EXAMPLES).filter((file) => !file.endsWith(".md"))) {
    copyFileSync(join(EXAMPLES, name), join(places.tools, name));
    chmodSync(join(places.tools, name), name.endsWith(".mjs") ? 0o755 : 0o644);
  }
});
afterEach(() => {
  places.remove();
});

function git(...args: string[]): void {
  const settings = [
    "user.name=Ann",
    "user.email=ann@example.org",
    "commit.gpgsign=false",
    "core.hooksPath=/dev/null",
  ];
  execFileSync("git", [...settings.flatMap((setting) => ["-c", setting]), ...args], {
    cwd: places.project,
    env: { PATH: process.env.PATH, HOME: places.folder, GIT_CONFIG_NOSYSTEM: "1" },
    stdio: "ignore",
  });
}

test("all of them load", async () => {
  verifies("DECL-2");
  expect(await problemsIn(places.tools)).toEqual([]);
});

test("git.recent_changes lists the latest commits and their files, without approval", async () => {
  verifies("DECL-3", "DECL-4");
  git("init");
  places.write("project/a.txt", "one\ntwo\n");
  places.write("project/ä b.txt", "x\n");
  git("add", ".");
  git("commit", "-m", 'Begin "it"');
  places.write("project/a.txt", "one\n2\n3\n");
  places.write("project/bin", "\0\0");
  git("add", ".");
  git("commit", "-m", "Go on");
  const { call, requests } = await startDeclaredRun(places);
  const all = await call("git.recent_changes");
  expect(all).toMatchObject({
    status: "succeeded",
    summary: "2 commits",
    data: [
      {
        author: "Ann",
        subject: "Go on",
        files: [{ path: "a.txt", added: 2, removed: 1 }, { path: "bin" }],
      },
      {
        subject: 'Begin "it"',
        files: [
          { path: "a.txt", added: 2, removed: 0 },
          { path: "ä b.txt", added: 1 },
        ],
      },
    ],
  });
  expect(await call("git.recent_changes", { commits: 1 })).toMatchObject({ summary: "1 commit" });
  expect(await call("git.recent_changes", { path: "ä b.txt" })).toMatchObject({
    data: [{ subject: 'Begin "it"' }],
  });
  expect(await call("git.recent_changes", { path: "--all" })).toMatchObject({ data: [] });
  expect(requests).toEqual([]);
});

test("git.recent_changes runs nothing that the repository configures", async () => {
  verifies("DECL-5");
  git("init");
  const plant = places.write("folder/plant", `#!/bin/sh\ntouch ${places.folder}/planted\n`, 0o755);
  for (const key of [
    "core.fsmonitor",
    "core.pager",
    "gpg.program",
    "diff.x.textconv",
    "diff.external",
  ])
    git("config", key, plant);
  git("config", "log.showSignature", "true");
  places.write("project/.gitattributes", "* diff=x\n");
  places.write("project/a.txt", "one\n");
  git("-c", "core.fsmonitor=false", "add", ".");
  git("-c", "core.fsmonitor=false", "commit", "-m", "Begin");
  const { call } = await startDeclaredRun(places);
  expect(await call("git.recent_changes")).toMatchObject({ summary: "1 commit" });
  expect(readdirSync(places.folder)).not.toContain("planted");
});

test("git.recent_changes outside a repository says so", async () => {
  verifies("DECL-4");
  const { call } = await startDeclaredRun(places);
  const result = await call("git.recent_changes");
  expect(result).toMatchObject({ status: "failed", error: { code: "command_failed" } });
  expect(textOf(result)).toContain("not a git repository");
});

test("json.query walks through a file", async () => {
  verifies("DECL-4");
  places.write("project/x.json", { items: [{ name: "a" }, { "b/c": [1, 2] }] });
  places.write("project/bad.json", "{");
  const { call, requests } = await startDeclaredRun(places);
  const ask = async (file: string, pointer?: string): Promise<string> =>
    textOf(await call("json.query", { file, ...(pointer === undefined ? {} : { pointer }) }));
  expect(await ask("x.json", "/items/0")).toBe('{"name":"a"}');
  expect(await ask("x.json", "/items/1/b~1c")).toBe("[1,2]");
  expect(await call("json.query", { file: "x.json" })).toMatchObject({
    summary: "an object with the keys items",
  });
  expect(await ask("x.json", "/items/7")).toContain('"7" is not in a list of 2 at "/items"');
  expect(await ask("bad.json")).toContain("cannot be read as JSON");
  expect(await ask("none.json")).toContain("cannot be read");
  expect(requests).toEqual([]);
});

test("json.query refuses what is hidden or outside", async () => {
  verifies("DECL-4");
  const outside = places.write("outside.json", { secret: 1 });
  places.write("project/.hidden/x.json", { secret: 1 });
  symlinkSync(outside, join(places.project, "link.json"));
  const { call } = await startDeclaredRun(places);
  for (const file of [outside, "../outside.json", ".hidden/x.json", "link.json"]) {
    const result = await call("json.query", { file });
    expect(result).toMatchObject({ status: "failed", error: { code: "not_allowed" } });
    expect(textOf(result)).not.toContain("secret");
  }
});

test("disk.usage asks, and lists the largest directories", async () => {
  verifies("DECL-3", "DECL-4");
  const odd = 'it\'s "odd" \\ $(touch x)';
  mkdirSync(join(places.project, "small"));
  places.write(`project/${odd}/big`, "x".repeat(500_000));
  const { call, requests } = await startDeclaredRun(places);
  const result = await call("disk.usage", { directory: ".", top: 2 });
  expect(result).toMatchObject({
    status: "succeeded",
    data: [{ path: "." }, { path: `./${odd}` }],
  });
  const [first] = result.data as { kib: number }[];
  expect(first?.kib).toBeGreaterThan(400);
  expect(await call("disk.usage", { directory: odd, top: 5 })).toMatchObject({
    data: [{ path: odd }],
  });
  const missing = await call("disk.usage", { directory: "none", top: 5 });
  expect(textOf(missing)).toContain("This is not a directory.");
  expect(requests).toHaveLength(3);
});
