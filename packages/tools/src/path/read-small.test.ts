import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { verifies } from "#laws";
import { readSmall } from "./resolve-path.ts";

const base = mkdtempSync(join(tmpdir(), "soong-small-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("only a plain file of that size is read, and a pipe holds no one up", () => {
  verifies("PATH-4");
  const at = (name: string): string => join(base, name);
  writeFileSync(at("file"), "text");
  symlinkSync("file", at("link"));
  execFileSync("mkfifo", [at("pipe")]);
  expect(readSmall(at("file"), 4)?.toString()).toBe("text");
  expect(readSmall(at("link"), 4, { followsLinks: true })?.toString()).toBe("text");
  for (const [name, size] of [
    ["file", 3],
    ["link", 4],
    ["pipe", 4],
    ["missing", 4],
    [".", 4],
  ] as const) {
    expect(readSmall(at(name), size)).toBeUndefined();
  }
});
