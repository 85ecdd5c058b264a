import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isInstalled } from "./setup.mjs";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "soong-setup-"));
  mkdirSync(join(folder, "node_modules", "@soong", "core"), { recursive: true });
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const locked = {
  "": {},
  "packages/core": { version: "0.1.0" },
  "node_modules/@soong/core": { link: true },
  "node_modules/ajv": { version: "8.20.0" },
  "node_modules/other-platform": { version: "1.0.0", optional: true },
};

const { "": _, "node_modules/other-platform": __, ...installed } = locked;

function write(path: string, packages: object): void {
  writeFileSync(join(folder, path), JSON.stringify({ packages }));
}

test("a fresh clone is not installed", () => {
  write("package-lock.json", locked);
  expect(isInstalled(folder)).toBe(false);
});

test("what the lock file says is installed, up to optional packages of other platforms", () => {
  write("package-lock.json", locked);
  write("node_modules/.package-lock.json", installed);
  expect(isInstalled(folder)).toBe(true);
});

test("a package of another version, a new package, a new workspace folder or another command is missing", () => {
  write("node_modules/.package-lock.json", installed);
  for (const change of [
    { "node_modules/ajv": { version: "8.21.0" } },
    { "node_modules/zod": { version: "4.0.0" } },
    { "node_modules/@soong/store": { link: true } },
    { "packages/core": { version: "0.1.0", bin: { soong: "bin/soong.cjs" } } },
  ]) {
    write("package-lock.json", { ...locked, ...change });
    expect(isInstalled(folder)).toBe(false);
  }
});
