import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "#laws";
import { scriptsOfCommand } from "./scripts-of-command.ts";

const cwd = realpathSync(mkdtempSync(join(tmpdir(), "soong-scripts-")));

beforeAll(() => {
  mkdirSync(join(cwd, "pk"));
  mkdirSync(join(cwd, "src"));
  for (const name of ["x.sh", "x.vim", "x.jq", "x.sql", "x.diff", "list", "data", "pk/__main__.py"])
    writeFileSync(join(cwd, name), "");
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test.each<[string[], string[]]>([
  [["sh", "x.sh"], ["x.sh"]],
  [["sh", "-c", "sh < x.sh"], ["x.sh"]],
  [["sh", "-c", "cat x.sh | sh"], ["x.sh"]],
  [["sh", "-c", "cat x.sh | env bash -s"], ["x.sh"]],
  [["env", "BASH_ENV=./x.sh", "bash", "-c", "true"], ["x.sh"]],
  [["env", "ENV=x.sh", "sh", "-i"], ["x.sh"]],
  [["sh", "-c", "BASH_ENV=x.sh bash -c true"], ["x.sh"]],
  [["vim", "-S", "x.vim"], ["x.vim"]],
  [["vim", "-Sx.vim", "data"], ["x.vim"]],
  [["python3", "pk"], ["pk/__main__.py"]],
  [["jq", "-f", "x.jq", "data"], ["x.jq"]],
  [["jq", "-nf", "x.jq"], ["x.jq"]],
  [["psql", "-f", "x.sql"], ["x.sql"]],
  [["psql", "--file=x.sql"], ["x.sql"]],
  [["xargs", "-a", "list", "rm"], ["list"]],
  [["git", "apply", "x.diff"], ["x.diff"]],
  [["git", "-C", "src", "apply", "../x.diff"], ["x.diff"]],
  [["patch", "-p1", "-i", "x.diff"], ["x.diff"]],
  [["sh", "-c", "patch -p1 < x.diff"], ["x.diff"]],
  [["sh", "-c", "git apply x.diff"], ["x.diff"]],
])("what tells a command what to do is part of its plan: %j", async (argv, expected) => {
  verifies("PERM-8");
  const executable = `/usr/bin/${argv[0]}`;
  const found = await scriptsOfCommand({ argv, cwd, executable });
  expect(found.map(({ path }) => relative(cwd, path))).toEqual(expected);
});

test.each([
  [["cat", "data"]],
  [["jq", ".a", "data"]],
  [["sh", "-c", "tail data"]],
  [["git", "add", "data"]],
  [["grep", "-f", "list", "data"]],
])("data that a command reads is not: %j", async (argv) => {
  verifies("PERM-8");
  const executable = `/usr/bin/${argv[0]}`;
  expect(await scriptsOfCommand({ argv, cwd, executable })).toEqual([]);
});
