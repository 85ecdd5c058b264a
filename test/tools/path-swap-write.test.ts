// PATH-1 and PATH-2 against a second process that swaps what was judged for a link that leads out: never
// one byte of the outside file is written, and nothing is made beside it.

import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commitFile, type FileCommit } from "../../packages/tools/src/path/index.ts";
import { race, swapStage, type SwapStage } from "./path-race.ts";

const COMMITS = process.env.SOONG_TEST_FULL === "1" ? 5_000 : 80;
/** A commit takes milliseconds: it succeeds only while no one swaps for as long. */
const PAUSE_MS = 60;

let stage: SwapStage;

beforeEach(async () => {
  stage = await swapStage();
});

afterEach(async () => {
  await stage.second.remove();
});

test("a file swapped for a link all the time is written only where it was judged to be", async () => {
  verifies("PATH-1", "PATH-2");
  await stage.swap("file", PAUSE_MS);
  const expected = createHash("sha256").update("inside").digest("hex");
  const { refusals } = await race(COMMITS, () => commit(stage.file, { expected }));
  expect(["changed_since_approval", "path_changed"]).toEqual(expect.arrayContaining(refusals));
  stage.expectOutsideUntouched();
});

test("a directory swapped for a link all the time is written to only where it was judged to be", async () => {
  verifies("PATH-1", "PATH-2");
  const { directory, second } = stage;
  await stage.swap("directory", PAUSE_MS);
  let made = 0;
  const { done } = await race(COMMITS, async () => {
    await commit(`${directory}/new-${made}`, {});
    made += 1;
  });
  stage.expectOutsideUntouched();
  await second.end();
  // Every one reported as done is there, and no other, whatever the directory is called now.
  const isThere = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  const names = readdirSync(isThere ? directory : `${directory}.real`);
  expect(names.length).toBe(1 + done);
});

test("a missing directory that is a link now and then is made only where it was judged to be", async () => {
  verifies("PATH-1", "PATH-2");
  await stage.swap("missing", PAUSE_MS);
  const path = join(stage.directory, "a/b/new");
  const { done } = await race(COMMITS, () => commit(path, { createDirs: true }));
  expect(done).toBeGreaterThan(0);
  stage.expectOutsideUntouched();
});

async function commit(path: string, options: Partial<FileCommit>): Promise<void> {
  const bytes = Buffer.from("inside");
  const lockDirectory = join(stage.second.folder, "home/locks");
  await commitFile({ path, bytes, expected: null, createDirs: false, lockDirectory, ...options });
}
