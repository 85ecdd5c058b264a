import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";

import { sweepLeftovers, temporaryName } from "./temporary-file.ts";
import { openDirectory } from "./open-directory.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-leftover-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function plant(name: string, ageMinutes: number): string {
  writeFileSync(join(folder, name), "half");
  const time = Date.now() / 1000 - ageMinutes * 60;
  utimesSync(join(folder, name), time, time);
  return name;
}

async function sweep(found: "free" | "abandoned"): Promise<string[]> {
  const directory = await openDirectory(folder);
  await sweepLeftovers(directory, "a", found);
  await directory.close();
  return readdirSync(folder).toSorted();
}

test("what a killed writer left of the target is removed, and what is old of any, and nothing else", async () => {
  verifies("CODE-4");
  plant(temporaryName("a"), 0);
  plant(temporaryName("b"), 61);
  const kept = [
    plant("a", 1000),
    plant(".a.tmp", 1000),
    plant("soong.tmp", 1000),
    plant(temporaryName("b"), 59),
  ];
  const [link, directory] = [temporaryName("a"), temporaryName("a")];
  symlinkSync("a", join(folder, link));
  mkdirSync(join(folder, directory));
  expect(await sweep("free")).toEqual([...kept, link, directory].toSorted());
});

test("a directory is listed once, and again when a lock was found abandoned", async () => {
  plant("a", 0);
  expect(await sweep("free")).toEqual(["a"]);
  const left = plant(temporaryName("a"), 0);
  expect(await sweep("free")).toEqual([left, "a"]);
  expect(await sweep("abandoned")).toEqual(["a"]);
});

test("a directory that is gone is none of its business", async () => {
  const directory = await openDirectory(folder);
  rmSync(folder, { recursive: true });
  await sweepLeftovers(directory, "a", "abandoned");
  await directory.close();
  mkdirSync(folder);
  expect(readdirSync(folder)).toEqual([]);
});
