import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { openBoundedLog } from "./server-log.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-log-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("a log continues where it was, for its owner's eyes only", async () => {
  verifies("MCP-8");
  const file = join(folder, "a.log");
  await writeFile(file, "before\n", { mode: 0o644 });
  await chmod(file, 0o644);
  const log = openBoundedLog(file);
  log.append(Buffer.from("one\n"));
  log.append(Buffer.from("two\n"));
  await log.close();
  expect(await readFile(file, "utf8")).toBe("before\none\ntwo\n");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a log never takes more than twice its bound, and keeps the newest", async () => {
  verifies("MCP-8");
  const file = join(folder, "logs", "a.log");
  for (let round = 0; round < 50; round += 1) {
    const log = openBoundedLog(file, 100);
    for (let line = 0; line < 5; line += 1) log.append(Buffer.from(`round ${round} ${line}\n`));
    await log.close();
  }
  expect((await readdir(join(folder, "logs"))).toSorted()).toEqual(["a.log", "a.log.old"]);
  for (const name of ["a.log", "a.log.old"]) {
    expect((await stat(join(folder, "logs", name))).size).toBeLessThanOrEqual(100);
  }
  expect(await readFile(file, "utf8")).toContain("round 49 4\n");
});

test("one piece larger than the bound is cut to it", async () => {
  const file = join(folder, "a.log");
  const log = openBoundedLog(file, 100);
  log.append(Buffer.alloc(5000, "x"));
  await log.close();
  expect((await stat(file)).size).toBe(100);
});
