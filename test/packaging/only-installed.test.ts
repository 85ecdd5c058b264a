// A clone in which only `npm ci` has run: nothing is built.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

let clone: string;

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "soong-only-installed-"));
  const own = ["package.json", "package-lock.json", ".npmrc", "scripts", "packages"];
  const configs = readdirSync(".").filter((name) => /^tsconfig.*\.json$/.test(name));
  for (const name of [...own, ...configs]) {
    const isMade = (path: string) => ["dist", "node_modules"].includes(basename(path));
    cpSync(name, join(clone, name), { recursive: true, filter: (path) => !isMade(path) });
  }
  // What others publish is read where it is; our packages are those of the clone.
  mkdirSync(join(clone, "node_modules", "@soong"), { recursive: true });
  for (const name of readdirSync("node_modules")) {
    if (name === "@soong" || name === "soong") continue;
    symlinkSync(resolve("node_modules", name), join(clone, "node_modules", name));
  }
  for (const name of readdirSync("packages")) {
    const link = name === "cli" ? "soong" : join("@soong", name);
    symlinkSync(join(clone, "packages", name), join(clone, "node_modules", link));
  }
});

afterAll(() => {
  rmSync(clone, { recursive: true, force: true });
});

test("the command says what to run instead", () => {
  const soong = join(clone, "packages", "cli", "bin", "soong.cjs");
  const { status, stdout, stderr } = run(process.execPath, [soong, "--version"], clone);
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: "soong: not built yet. Run `npm run build` in the clone first.\n",
  });
});

test("npm pack builds what it packs", () => {
  const folder = join(clone, "packages", "core");
  const { status, stderr } = run("npm", ["pack"], folder);
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  const listed = run("tar", ["-tf", tarball], folder).stdout.split("\n");
  expect(listed).toEqual(expect.arrayContaining(["package/dist/index.js", "package/package.json"]));
  expect(listed.filter((path) => path.endsWith(".tsbuildinfo"))).toEqual([]);
});

function run(command: string, args: readonly string[], cwd: string) {
  return spawnSync(command, args, { cwd, encoding: "utf8" });
}
