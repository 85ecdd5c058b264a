import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPromptHistory } from "./prompt-history.ts";

let around: string;
let home: string;

beforeEach(async () => {
  around = await mkdtemp(join(tmpdir(), "soong-history-"));
  home = join(around, "home");
});

afterEach(() => rm(around, { recursive: true }));

test("what was typed is there next time, in a file no one else reads, without secrets", async () => {
  const secrets = [{ name: "MY_KEY", value: "hunter2-hunter2" }];
  const history = await openPromptHistory(home, secrets);
  expect(history.entries).toEqual([]);
  expect(await history.add("first\nline")).toBeUndefined();
  await history.add("my key is hunter2-hunter2");
  await history.add("again");
  await history.add("again");
  const file = join(home, "prompts.jsonl");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(home)).mode & 0o777).toBe(0o700);
  expect(await readFile(file, "utf8")).not.toContain("hunter2");
  const { entries } = await openPromptHistory(home, secrets);
  expect(entries).toHaveLength(3);
  expect(entries[0]).toBe("first\nline");
  expect(entries[1]).toMatch(/my key is .*MY_KEY/);
  expect(entries[2]).toBe("again");
});

test("it stays bounded, and lines that are not its own are passed over", async () => {
  const first = await openPromptHistory(home, []);
  await first.add("x".repeat(10_000));
  expect(first.entries).toEqual([]);
  await first.add("one");
  const file = join(home, "prompts.jsonl");
  const many = Array.from({ length: 1200 }, (_, i) => JSON.stringify(`p${i}`));
  await writeFile(file, [...many, "{", "7", '""', '"last"', ""].join("\n"));
  const { entries } = await openPromptHistory(home, []);
  expect(entries).toHaveLength(500);
  expect(entries.at(-1)).toBe("last");
  // Written anew, since it had grown.
  expect((await readFile(file, "utf8")).split("\n")).toHaveLength(501);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("where nothing can be kept, that is said once, and the arrows work all the same", async () => {
  await writeFile(home, "a file");
  const history = await openPromptHistory(home, []);
  expect(await history.add("one")).toMatch(/not kept/);
  expect(await history.add("two")).toBeUndefined();
  expect(history.entries).toEqual(["one", "two"]);
});
