import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "#laws";
import { openOwnFolders } from "./own-folders.ts";

function openDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "soong-own-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("folders of removed sessions go, and only those that were noted", async () => {
  verifies("ART-4");
  const directory = openDirectory();
  const own = openOwnFolders(directory);
  own.note("session_1", "run_1");
  own.note("session_1", "run_2");
  own.note("session_2", "run_3");
  // A name that is none for a file.
  own.note("a/../b", "run_4");
  const removed: string[] = [];
  const asked: string[] = [];
  await own.sweep(
    async (ids) => {
      asked.push(...ids);
      return ["session_1", "a/../b", "session_of_another_store"];
    },
    (run_id) => removed.push(run_id),
  );
  expect(asked.toSorted()).toEqual(["a/../b", "session_1", "session_2"]);
  expect(removed.toSorted()).toEqual(["run_1", "run_2", "run_4"]);
  expect(readdirSync(directory)).toEqual(["session_2.jsonl"]);
});

test("a line that was cut says nothing, and a folder that cannot go is tried again", async () => {
  verifies("ART-4");
  const directory = openDirectory();
  const own = openOwnFolders(directory);
  own.note("session_1", "run_1");
  appendFileSync(join(directory, "session_1.jsonl"), '{"session_id":"session_1","run_');
  mkdirSync(join(directory, "other"));
  const gone = async (): Promise<string[]> => ["session_1"];
  await own.sweep(gone, () => {
    throw new Error("EACCES");
  });
  await own.sweep(
    async () => {
      throw new Error("The database is away.");
    },
    () => {},
  );
  const removed: string[] = [];
  await own.sweep(gone, (run_id) => removed.push(run_id));
  expect(removed).toEqual(["run_1"]);
});

test("where nothing was noted, nothing is asked", async () => {
  const own = openOwnFolders(join(openDirectory(), "none"));
  const findGone = vi.fn(async () => []);
  await own.sweep(findGone, () => {});
  expect(findGone).not.toHaveBeenCalled();
});
